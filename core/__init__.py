"""The engine of RTC Inspector: no Qt, usable as a library and from the command line."""

__version__ = "0.1.0"
