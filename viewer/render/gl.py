"""Wraps OpenGL objects: shader programs, buffers and vertex arrays."""

import ctypes
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..assets import shader_source
from .contexts import OpenGLError, load_opengl

_FourIntegers, _FourFloats = ctypes.c_int * 4, ctypes.c_float * 4
_INCLUDE = re.compile(r'\s*#include\s+"([^"]+)"\s*')
_LOG_LINE = re.compile(r"\b0[:(](\d+)")
"""Pattern of a line number in a compiler's log, for source string 0: `0:12(3): error` (Mesa), `0(12) : error` (NVIDIA),
`ERROR: 0:12:`."""


def gl_integer(name: int) -> int:
    """Return the value of a GL state variable of one integer."""
    value = _FourIntegers()
    _raw_gl().glGetIntegerv(name, value)
    return value[0]


def gl_floats(name: int) -> tuple[float, float]:
    """Return the values of a GL state variable of two numbers."""
    values = _FourFloats()
    _raw_gl().glGetFloatv(name, values)
    return values[0], values[1]


@contextmanager
def kept_state(attributes: int, has_vertex_arrays: bool) -> Iterator[None]:
    """Unbind the vertex array; at the end restore it, groups of attributes, and the program and buffer in use."""
    gl = load_opengl()
    program, array_buffer = gl_integer(gl.GL_CURRENT_PROGRAM), gl_integer(gl.GL_ARRAY_BUFFER_BINDING)
    vertex_array = gl_integer(gl.GL_VERTEX_ARRAY_BINDING) if has_vertex_arrays else 0
    gl.glPushAttrib(attributes)
    if has_vertex_arrays:
        gl.glBindVertexArray(0)
    try:
        yield
    finally:
        gl.glPopAttrib()
        if has_vertex_arrays:
            gl.glBindVertexArray(vertex_array)
        gl.glBindBuffer(gl.GL_ARRAY_BUFFER, array_buffer)
        gl.glUseProgram(program)


@cache
def _raw_gl() -> Any:
    """Return OpenGL's raw functions, because PyOpenGL's wrappers know only the sizes of old state variables."""
    from OpenGL.raw.GL.VERSION import GL_1_1

    return GL_1_1


def gl_supports(version: tuple[int, int], *extensions: str) -> bool:
    """Return True if the current context has at least a version, or all of the extensions (named without `GL_`)."""
    gl = load_opengl()
    text = gl.glGetString(gl.GL_VERSION) or b""
    match = re.match(rb"(\d+)\.(\d+)", text)
    if match and (int(match[1]), int(match[2])) >= version:
        return True
    present = (gl.glGetString(gl.GL_EXTENSIONS) or b"").decode().split()
    return bool(extensions) and all(f"GL_{name}" in present for name in extensions)


class Program:
    """A linked shader program: shaders/<stem>.vert and shaders/<stem>.frag."""

    def __init__(self, stem: str, attributes: Sequence[str], defines: Sequence[str] = ()) -> None:
        """Compile and link. `attributes`: names that get the locations 0, 1, ... in order; `defines`: names for
        `#ifdef`."""
        self._gl = gl = load_opengl()
        self._locations: dict[str, int] = {}
        self._values: dict[str, bytes] = {}
        """Last values of the uniforms, so that only changed ones are set: a call of OpenGL is slow."""
        self._id: int | None = int(gl.glCreateProgram())
        shaders: list[int] = []
        try:
            for filename, kind in ((f"{stem}.vert", gl.GL_VERTEX_SHADER), (f"{stem}.frag", gl.GL_FRAGMENT_SHADER)):
                shaders.append(_compile(gl, filename, kind, defines))
                gl.glAttachShader(self._id, shaders[-1])
            for location, name in enumerate(attributes):
                gl.glBindAttribLocation(self._id, location, name)
            gl.glLinkProgram(self._id)
            if not gl.glGetProgramiv(self._id, gl.GL_LINK_STATUS):
                raise OpenGLError(
                    f"shaders {stem}.vert and {stem}.frag do not link: {_text(gl.glGetProgramInfoLog(self._id))}"
                )
        except BaseException:
            self.close()
            raise
        finally:
            # A shader lives on while its program does.
            for shader in shaders:
                gl.glDeleteShader(shader)

    def use(self) -> None:
        self._gl.glUseProgram(self._id)

    def set(self, name: str, value: float | Sequence[float] | NDArray[Any]) -> None:
        """Set a float, vec2 or mat4 uniform of the program in use; a uniform that the program does not use is ignored.

        Matrices are (4, 4), for column vectors.
        """
        location = self._location(name)
        if location < 0:
            return
        values = np.asarray(value, np.float32, order="C")
        content = values.tobytes()
        if self._values.get(name) == content:
            return
        self._values[name] = content
        if values.shape == ():
            self._gl.glUniform1f(location, float(values))
        elif values.shape == (2,):
            self._gl.glUniform2f(location, float(values[0]), float(values[1]))
        else:
            self._gl.glUniformMatrix4fv(location, 1, True, values)

    def close(self) -> None:
        if self._id is not None:
            self._gl.glDeleteProgram(self._id)
            self._id = None

    def _location(self, name: str) -> int:
        if name not in self._locations:
            self._locations[name] = int(self._gl.glGetUniformLocation(self._id, name))
        return self._locations[name]


class Buffer:
    """A buffer object for vertices, instances or indices."""

    def __init__(self) -> None:
        self._gl = load_opengl()
        self.id: int | None = int(self._gl.glGenBuffers(1))

    def fill(self, values: NDArray[Any], *, target: int | None = None, once: bool = False) -> None:
        """Replace the content by one upload, and leave the buffer bound. `once`: True if the content will not
        change."""
        gl = self._gl
        target = gl.GL_ARRAY_BUFFER if target is None else target
        gl.glBindBuffer(target, self.id)
        gl.glBufferData(target, values.nbytes, values, gl.GL_STATIC_DRAW if once else gl.GL_STREAM_DRAW)

    def close(self) -> None:
        if self.id is not None:
            self._gl.glDeleteBuffers(1, [self.id])
            self.id = None


class InstancedMesh:
    """A small mesh that one call draws many times, each time with its own row of instance values."""

    def __init__(
        self,
        vertices: NDArray[np.float32],
        indices: NDArray[np.uint16],
        vertex_sizes: Sequence[int],
        instance_sizes: Sequence[int],
        *,
        own_vertex_array: bool | None = None,
    ) -> None:
        """Split rows of vertices and of instances into attributes of these sizes; locations count through both.

        `own_vertex_array=None` uses a vertex array object if the context has them, which legacy macOS lacks.
        """
        self._gl = gl = load_opengl()
        if not gl_supports((3, 3), "ARB_instanced_arrays", "ARB_draw_instanced"):
            raise OpenGLError("the graphics driver cannot draw instances (needs OpenGL 3.3 or ARB_instanced_arrays)")
        if gl_supports((3, 3)):
            self._set_divisor, self._draw = gl.glVertexAttribDivisor, gl.glDrawElementsInstanced
        else:
            from OpenGL.GL.ARB.draw_instanced import glDrawElementsInstancedARB
            from OpenGL.GL.ARB.instanced_arrays import glVertexAttribDivisorARB

            self._set_divisor, self._draw = glVertexAttribDivisorARB, glDrawElementsInstancedARB
        self._vertex_sizes, self._instance_sizes = tuple(vertex_sizes), tuple(instance_sizes)
        self._index_count = indices.size
        has_vertex_arrays = gl_supports((3, 0), "ARB_vertex_array_object")
        self._vertex_array: int | None = None
        self._vertices, self._indices, self._instances = Buffer(), Buffer(), Buffer()
        self._instance_count = 0
        if has_vertex_arrays if own_vertex_array is None else own_vertex_array:
            self._vertex_array = int(gl.glGenVertexArrays(1))
            gl.glBindVertexArray(self._vertex_array)
        self._vertices.fill(vertices, once=True)
        self._indices.fill(indices, target=gl.GL_ELEMENT_ARRAY_BUFFER, once=True)
        if self._vertex_array is not None:
            self._set_pointers()
            gl.glBindVertexArray(0)
        gl.glBindBuffer(gl.GL_ELEMENT_ARRAY_BUFFER, 0)
        gl.glBindBuffer(gl.GL_ARRAY_BUFFER, 0)

    def upload(self, instances: NDArray[np.float32]) -> None:
        """Upload one row per instance."""
        self._instances.fill(instances)
        self._instance_count = len(instances)

    def draw(self) -> None:
        """Draw all instances in one call. A mesh without its own vertex array changes the one that is bound."""
        gl = self._gl
        if self._vertex_array is not None:
            gl.glBindVertexArray(self._vertex_array)
        else:
            self._set_pointers()
        self._draw(gl.GL_TRIANGLES, self._index_count, gl.GL_UNSIGNED_SHORT, ctypes.c_void_p(0), self._instance_count)
        if self._vertex_array is not None:
            gl.glBindVertexArray(0)
            return
        for location in range(len(self._vertex_sizes) + len(self._instance_sizes)):
            self._set_divisor(location, 0)
            gl.glDisableVertexAttribArray(location)

    def close(self) -> None:
        if self._vertex_array is not None:
            self._gl.glDeleteVertexArrays(1, [self._vertex_array])
            self._vertex_array = None
        for buffer in (self._vertices, self._indices, self._instances):
            buffer.close()

    def _set_pointers(self) -> None:
        # The wrapped function keeps the pointer alive in a store for each context, and fails when PyOpenGL looks for
        # a GLX context and the window has an EGL one, or the other way round; an offset needs no keeping.
        from OpenGL.raw.GL.VERSION.GL_2_0 import glVertexAttribPointer

        gl = self._gl
        gl.glBindBuffer(gl.GL_ELEMENT_ARRAY_BUFFER, self._indices.id)
        location = 0
        for buffer, sizes, divisor in (
            (self._vertices, self._vertex_sizes, 0),
            (self._instances, self._instance_sizes, 1),
        ):
            gl.glBindBuffer(gl.GL_ARRAY_BUFFER, buffer.id)
            float_size, offset = 4, 0
            for size in sizes:
                gl.glEnableVertexAttribArray(location)
                glVertexAttribPointer(
                    location, size, gl.GL_FLOAT, False, sum(sizes) * float_size, ctypes.c_void_p(offset)
                )
                self._set_divisor(location, divisor)
                location += 1
                offset += size * float_size


def _compile(gl: Any, filename: str, kind: int, defines: Sequence[str]) -> int:
    lines = _expand(filename)
    # After #version, which must come first.
    lines[1:1] = [(f"#define {word}", f"{filename}:1") for word in defines]
    shader = int(gl.glCreateShader(kind))
    gl.glShaderSource(shader, "\n".join(line for line, _ in lines) + "\n")
    gl.glCompileShader(shader)
    if not gl.glGetShaderiv(shader, gl.GL_COMPILE_STATUS):
        log = _text(gl.glGetShaderInfoLog(shader))
        gl.glDeleteShader(shader)
        raise OpenGLError(f"shader does not compile: {_name_places(log, [place for _, place in lines])}")
    return shader


def _expand(filename: str) -> list[tuple[str, str]]:
    """Return the lines of a shader with its includes inserted, each with its origin, such as `arrow.vert:12`."""
    expanded: list[tuple[str, str]] = []
    for number, line in enumerate(shader_source(filename).splitlines(), start=1):
        include = _INCLUDE.fullmatch(line)
        if include:
            expanded += _expand(include[1])
        else:
            expanded.append((line, f"{filename}:{number}"))
    return expanded


def _name_places(log: str, places: list[str]) -> str:
    def place(match: re.Match[str]) -> str:
        line = int(match[1])
        return places[line - 1] + " " if 1 <= line <= len(places) else match[0]

    return _LOG_LINE.sub(place, log)


def _text(log: Any) -> str:
    """Return an info log, which PyOpenGL gives as bytes or text, as one line."""
    text = log.decode("utf-8", "replace") if isinstance(log, bytes) else str(log)
    return " / ".join(line.strip() for line in text.splitlines() if line.strip())
