"""Builds the file of a page: markup, styles, script, shaders, data, and a content policy that allows nothing else."""

import base64
import gzip
import hashlib
import html
import re
from functools import cache
from importlib.resources import files
from typing import Any

from ..assets import shader_source
from .sections import Sections, as_json

_SHADERS = ("sphere", "arrow")
_POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; img-src data:; base-uri 'none'; form-action 'none'"
)
_LOADER = "loader.js"
_INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"\s*$', re.MULTILINE)
_STAGES = {"vert": ("in", "out", ""), "frag": ("in", "in", "out vec4 fragColor;\n")}
"""Replacements for `attribute`, `varying` and the declaration of the colour in a shader of each stage."""


def build_page(title: str, manifest: dict[str, Any], sections: Sections, poster: tuple[bytes, str] | None) -> bytes:
    """Return the content of a page's file. `poster`: a picture's content and kind, such as image/jpeg."""
    body, style, script, loader = _sources()
    manifest = manifest | {
        "sections": sections.index,
        "shaders": shaders(),
        "poster": poster is not None,
    }
    picture = ""
    if poster is not None:
        content, kind = poster
        text = base64.b64encode(content).decode("ascii")
        picture = f'<img id="cv-poster" alt="{_text(title)}" src="data:{kind};base64,{text}">'
    policy = content_policy(style, loader, script)
    sections.add_file("script", "file", gzip.compress(script.encode("ascii"), mtime=0))
    page = "".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{_text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n",
            body.replace("<!--POSTER-->", picture),
            f'<script type="application/json" id="cv-manifest">{as_json(manifest)}</script>\n',
            sections.html(),
            f"<script>{loader}</script>\n</body>\n</html>\n",
        ]
    )
    return page.encode("ascii")


def content_policy(style: str, *scripts: str) -> str:
    """Return a content policy that allows these scripts, this style, and no requests."""
    return _POLICY.format(script=" ".join(map(_hash, scripts)), style=_hash(style))


@cache
def shaders() -> dict[str, str]:
    """Return the shaders of spheres and arrows in the language of WebGL 2, by file name."""
    return {f"{stem}.{stage}": _ported(f"{stem}.{stage}") for stem in _SHADERS for stage in _STAGES}


def _ported(name: str) -> str:
    attribute, varying, declared = _STAGES[name.rpartition(".")[2]]
    text = _INCLUDE.sub(lambda match: shader_source(match[1]), shader_source(name))
    text = text.replace("#version 120\n", "").replace("gl_FragColor", "fragColor")
    text = re.sub(r"\bvarying\b", varying, re.sub(r"\battribute\b", attribute, text))
    text = re.sub(r"[ \t]*//[^\n]*", "", text)
    return f"#version 300 es\nprecision highp float;\n{declared}{text}"


@cache
def _sources() -> tuple[str, str, str, str]:
    """Return the markup, the styles, the script (one scope) and the script that unpacks it."""
    folder = files(__package__).joinpath("web")
    names = sorted(each.name for each in folder.iterdir() if each.name.endswith(".js") and each.name != _LOADER)
    names.sort(key=lambda name: name == "main.js")
    texts = [folder.joinpath(name).read_text("utf-8") for name in ("page.html", "page.css", _LOADER, *names)]
    body, style, loader, *scripts = map(_short, texts)
    script = '(() => {"use strict";\n' + "\n".join(scripts) + "\n})();"
    # ASCII has the same hash in a document of any encoding.
    return _ascii(body, "&#{};"), _ascii(style, "\\{:x} "), _ascii(script, "\\u{:04x}"), loader


def _ascii(text: str, escape: str) -> str:
    """Return text with letters beyond ASCII as escapes."""
    return re.sub(r"[^\x00-\x7f]", lambda match: escape.format(ord(match[0])), text)


def _short(text: str) -> str:
    """Return a source without indentation, empty lines and lines of comments."""
    lines, is_comment = [], False
    for line in map(str.strip, text.splitlines()):
        is_comment = is_comment or line.startswith("/*")
        if line and not is_comment and not line.startswith("//"):
            lines.append(line)
        is_comment = is_comment and not line.endswith("*/")
    return "\n".join(lines)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def _text(text: str) -> str:
    """Return text escaped for use in an HTML element or attribute."""
    return _ascii(html.escape("".join(letter if letter.isprintable() else " " for letter in text)), "&#{};")
