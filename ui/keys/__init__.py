"""Which keys do what, and where the user chooses them."""
