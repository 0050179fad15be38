"""GGUF files, prompts, the worker process and answer extraction."""
