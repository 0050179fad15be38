"""What surrounds the views: top bar, notices, status line, dialogs, and what is remembered between sessions."""
