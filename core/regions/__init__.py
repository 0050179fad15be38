"""Statement candidates, coverage, weighted sampling and admission."""
