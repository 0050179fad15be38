"""The engine of RTC Inspector: no Qt, usable as a library and from the command line."""
