"""One pure function a method: from stored rows to figures. Nothing here is drawn, and nothing is written."""
