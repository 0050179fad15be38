"""The window: views over the store, and intents back."""
