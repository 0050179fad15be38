"""The oracle of projects in any language: their own test command."""
