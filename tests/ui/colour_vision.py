"""How far apart colours look, also to eyes that miss one kind of cone.

Distances are CIE76 in CIELAB (D65). The simulation is that of Machado, Oliveira and Fernandes, "A
Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), at full severity, on
linear RGB.
"""

from __future__ import annotations

from math import dist

Matrix = tuple[tuple[float, float, float], ...]

NORMAL: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
PROTAN: Matrix = (
    (0.152286, 1.052583, -0.204868),
    (0.114503, 0.786281, 0.099216),
    (-0.003882, -0.048116, 1.051998),
)
DEUTAN: Matrix = (
    (0.367322, 0.860646, -0.227968),
    (0.280085, 0.672501, 0.047413),
    (-0.011820, 0.042940, 0.968881),
)
TRITAN: Matrix = (
    (1.255528, -0.076749, -0.178779),
    (-0.078411, 0.930809, 0.147602),
    (0.004733, 0.691367, 0.303900),
)
EYES: dict[str, Matrix] = {
    "normal": NORMAL,
    "protan": PROTAN,
    "deutan": DEUTAN,
    "tritan": TRITAN,
}

_TO_XYZ: Matrix = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
_WHITE = (0.95047, 1.0, 1.08883)


def distance(one: str, other: str, eyes: Matrix = NORMAL) -> float:
    """How different two colours `#rrggbb` look to these eyes; under about 2 nobody tells them."""
    return dist(_lab(_seen(one, eyes)), _lab(_seen(other, eyes)))


def _seen(color: str, eyes: Matrix) -> list[float]:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return [min(1.0, max(0.0, each)) for each in _times(eyes, linear)]


def _lab(linear: list[float]) -> tuple[float, float, float]:
    x, y, z = (each / white for each, white in zip(_times(_TO_XYZ, linear), _WHITE, strict=True))
    fx, fy, fz = (
        each ** (1 / 3) if each > 216 / 24389 else (24389 / 27 * each + 16) / 116
        for each in (x, y, z)
    )
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def _times(matrix: Matrix, vector: list[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]
