"""Arithmetic on colours given as `#rrggbb`."""

from __future__ import annotations


def channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue, 0..255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def mix(over: str, under: str, share: float) -> str:
    """`over` laid on `under` with opacity `share` (0..1)."""
    pairs = zip(channels(over), channels(under), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it, 0..1."""
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in channels(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Contrast ratio as WCAG 2 defines it, 1..21."""
    bright, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)
