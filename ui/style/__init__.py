"""What the window looks like: themes, fonts, icons, and the sign of each outcome."""
