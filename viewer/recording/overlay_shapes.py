"""Draws text and shapes as small translucent images, which numpy blends into pictures."""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from .encoders import Picture

Color = tuple[int, int, int, int]
"""RGBA, each from 0 to 255."""
Point = tuple[float, float]
"""Point in a picture: x to the right, y down [px]."""

PANEL: Color = (24, 25, 27, 190)
TEXT: Color = (236, 236, 236, 255)
DIM: Color = (160, 162, 165, 255)

_FOLDER = ("assets", "fonts")
_TEXT_FACE, _NUMBER_FACE = "Roboto/Roboto-Regular.ttf", "Inconsolata-Medium.ttf"
_FINE = 4
"""Factor by which shapes are drawn larger and then reduced, which smooths their edges."""

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


@cache
def text_font(size: int) -> Font:
    """Return the typeface of the window's panels."""
    return _font(_TEXT_FACE, size)


@cache
def number_font(size: int) -> Font:
    """Return the fixed-width typeface, for values that change while they are shown."""
    return _font(_NUMBER_FACE, size)


def text_width(text: str, font: Font) -> float:
    """Return the width of a text [px]."""
    return float(font.getlength(text))


def wrapped(text: str, font: Font, width: float) -> list[str]:
    """Return a text as lines of at most a width [px], broken at spaces and punctuation where possible."""
    lines = []
    while text_width(text, font) > width:
        fits = next((n for n in range(len(text) - 1, 1, -1) if text_width(text[:n], font) <= width), 1)
        mark = max(text.rfind(mark, 0, fits) for mark in " _-/.:") + 1
        end = mark if mark > fits // 2 else fits
        lines.append(text[:end].rstrip())
        text = text[end:].lstrip()
    return [*lines, text]


def rgba(color: Sequence[float]) -> Color:
    """Return the `Color` of 3 or 4 numbers from 0 to 1."""
    red, green, blue, alpha = (round(255 * min(max(float(value), 0.0), 1.0)) for value in (*color, 1.0)[:4])
    return red, green, blue, alpha


def write_text(
    image: Image.Image, position: Point, text: str, font: Font, color: Color = TEXT, anchor: str = "lm"
) -> None:
    """Write text into an image; `anchor` as in Pillow, by default the text's left end at half height."""
    layer = Image.new("RGBA", image.size)
    ImageDraw.Draw(layer).text(position, text, color, font, anchor)
    image.alpha_composite(layer)


class Canvas:
    """A small transparent image with text over shapes, whose edges are smooth."""

    def __init__(self, width: float, height: float) -> None:
        self.size = max(1, round(width)), max(1, round(height))
        """Width and height [px]."""
        self._shapes = Image.new("RGBA", (self.size[0] * _FINE, self.size[1] * _FINE))
        self._draw = ImageDraw.Draw(self._shapes)
        self._texts: list[tuple[Point, str, Font, Color, str]] = []

    def panel(self, radius: float, color: Color = PANEL) -> None:
        """Draw a background with round corners."""
        width, height = self._shapes.size
        self._draw.rounded_rectangle((0, 0, width - 1, height - 1), radius * _FINE, color)

    def disc(self, center: Point, radius: float, color: Color) -> None:
        x, y = center
        # Pillow includes a box's last pixel.
        box = (x - radius) * _FINE, (y - radius) * _FINE, (x + radius) * _FINE - 1, (y + radius) * _FINE - 1
        self._draw.ellipse(box, color)

    def line(self, start: Point, end: Point, width: float, color: Color) -> None:
        """Draw a horizontal or vertical line."""
        (x0, y0), (x1, y1), half = start, end, width / 2
        across = (0.0, half) if y0 == y1 else (half, 0.0)
        box = (min(x0, x1) - across[0], min(y0, y1) - across[1], max(x0, x1) + across[0], max(y0, y1) + across[1])
        self._draw.rectangle([round(value * _FINE) - (i > 1) for i, value in enumerate(box)], color)

    def arrow(self, start: Point, length: float, width: float, color: Color) -> None:
        """Draw an arrow to the right, in the proportions of the scene's arrows."""
        (x, y), head = start, 3.2 * width
        self.line(start, (x + length - head, y), width, color)
        tip = [(x + length - head, y - 0.5 * head), (x + length, y), (x + length - head, y + 0.5 * head)]
        self._draw.polygon([(px * _FINE, py * _FINE) for px, py in tip], color)

    def triangle(self, tip: Point, width: float, height: float, color: Color) -> None:
        """Draw a triangle with a horizontal base, `height` below its tip [px]; above it if `height` is negative."""
        (x, y), half = tip, 0.5 * width
        corners = [(x, y), (x + half, y + height), (x - half, y + height)]
        self._draw.polygon([(px * _FINE, py * _FINE) for px, py in corners], color)

    def text(self, position: Point, text: str, font: Font, color: Color = TEXT, anchor: str = "lm") -> None:
        """Draw text over all shapes; `anchor` as in `write_text`."""
        self._texts.append((position, text, font, color, anchor))

    def image(self) -> Image.Image:
        image = self._shapes.resize(self.size, Image.Resampling.BOX)
        for position, text, font, color, anchor in self._texts:
            write_text(image, position, text, font, color, anchor)
        return image


class Patch:
    """An image with transparency, ready to be blended into pictures at one place."""

    def __init__(self, image: Image.Image, x: float, y: float) -> None:
        """Begin a patch. `x`, `y`: position of its upper left corner [px]."""
        self.x, self.y = round(x), round(y)
        pixels = np.asarray(image.convert("RGBA")).astype(np.uint16)
        alpha = (pixels[..., 3:] * 256 + 127) // 255
        self.ink: NDArray[np.uint16] = pixels[..., :3] * alpha
        """Colour times alpha, (height, width, 3), up to 255 * 256."""
        self.keep: NDArray[np.uint16] = 256 - alpha
        """Weight of the picture under the patch, (height, width, 1), up to 256."""

    @property
    def height(self) -> int:
        return int(self.ink.shape[0])

    @property
    def width(self) -> int:
        return int(self.ink.shape[1])

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom [px]."""
        return self.x, self.y, self.x + self.width, self.y + self.height

    def blend(self, picture: Picture) -> None:
        """Blend the patch into a picture, in place; parts outside of the picture are cut off."""
        region = picture[max(self.y, 0) : self.y + self.height, max(self.x, 0) : self.x + self.width]
        if not region.size:
            return
        top, left = max(-self.y, 0), max(-self.x, 0)
        part = slice(top, top + region.shape[0]), slice(left, left + region.shape[1])
        mixed = region * self.keep[part]
        mixed += self.ink[part]
        mixed >>= 8
        region[...] = mixed


def _font(name: str, size: int) -> Font:
    # The faces ship with the window's toolkit; its files are found without importing it, which needs no display.
    spec = find_spec("imgui_bundle")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, *_FOLDER, name)
        if path.is_file():
            return ImageFont.truetype(str(path), size)
    return ImageFont.load_default(size)
