"""How artefacts are chained: one module a kind of round trip."""
