"""Code written anew without a model, by syntax tree."""
