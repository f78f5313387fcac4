"""OpenGL state: as another program leaves it, and as it can be asked for."""

from typing import Any

import numpy as np
from contact_viewer.render.contexts import load_opengl


def set_unusual_state(gl: Any) -> None:
    """A state that a program in the middle of its own drawing may have."""
    program = gl.glCreateProgram()
    for kind, text in (
        (gl.GL_VERTEX_SHADER, "#version 120\nattribute vec4 a;\nvoid main() { gl_Position = a; }"),
        (gl.GL_FRAGMENT_SHADER, "#version 120\nvoid main() { gl_FragColor = vec4(1.0); }"),
    ):
        shader = gl.glCreateShader(kind)
        gl.glShaderSource(shader, text)
        gl.glCompileShader(shader)
        gl.glAttachShader(program, shader)
    gl.glLinkProgram(program)
    gl.glUseProgram(program)
    array, elements, other = (int(name) for name in gl.glGenBuffers(3))
    # State of vertex array 0, under another one that is bound.
    set_array(gl, array, elements, [1, 2])
    vertex_array = int(gl.glGenVertexArrays(1))
    gl.glBindVertexArray(vertex_array)
    set_array(gl, other, elements, [0, 3])
    gl.glBindBuffer(gl.GL_ARRAY_BUFFER, array)
    gl.glActiveTexture(gl.GL_TEXTURE2)
    gl.glViewport(3, 4, 50, 60)
    gl.glScissor(5, 6, 7, 8)
    gl.glEnable(gl.GL_SCISSOR_TEST)
    gl.glDisable(gl.GL_DEPTH_TEST)
    gl.glEnable(gl.GL_STENCIL_TEST)
    gl.glDepthMask(False)
    gl.glDisable(gl.GL_BLEND)
    gl.glBlendFunc(gl.GL_ONE, gl.GL_DST_COLOR)
    gl.glBlendEquation(gl.GL_FUNC_SUBTRACT)
    gl.glEnable(gl.GL_CULL_FACE)
    gl.glCullFace(gl.GL_FRONT)
    gl.glFrontFace(gl.GL_CW)
    gl.glPolygonMode(gl.GL_FRONT_AND_BACK, gl.GL_LINE)
    gl.glColorMask(True, False, True, False)


def set_array(gl: Any, array: int, elements: int, locations: list[int]) -> None:
    gl.glBindBuffer(gl.GL_ARRAY_BUFFER, array)
    gl.glBufferData(gl.GL_ARRAY_BUFFER, 64, None, gl.GL_STATIC_DRAW)
    gl.glBindBuffer(gl.GL_ELEMENT_ARRAY_BUFFER, elements)
    for location in locations:
        gl.glEnableVertexAttribArray(location)
        gl.glVertexAttribPointer(location, 2, gl.GL_FLOAT, False, 8, None)
        gl.glVertexAttribDivisor(location, location + 1)


def read_state(gl: Any) -> dict[str, Any]:
    def values(name: str) -> list[float]:
        return [float(value) for value in np.ravel(gl.glGetFloatv(getattr(gl, name)))]

    numbers = ["CURRENT_PROGRAM", "VERTEX_ARRAY_BINDING", "ARRAY_BUFFER_BINDING", "ACTIVE_TEXTURE", "DEPTH_FUNC"]
    numbers += ["DEPTH_WRITEMASK", "DEPTH_CLEAR_VALUE", "DEPTH_RANGE", "VIEWPORT", "SCISSOR_BOX", "CULL_FACE_MODE"]
    numbers += ["BLEND_SRC_RGB", "BLEND_DST_RGB", "BLEND_SRC_ALPHA", "BLEND_DST_ALPHA", "BLEND_EQUATION_RGB"]
    numbers += ["FRONT_FACE", "COLOR_WRITEMASK", "FRAMEBUFFER_BINDING", "MATRIX_MODE", "POLYGON_MODE"]
    state: dict[str, Any] = {name: values(f"GL_{name}") for name in numbers}
    features = ["BLEND", "DEPTH_TEST", "CULL_FACE", "SCISSOR_TEST", "STENCIL_TEST", "ALPHA_TEST", "LIGHTING", "FOG"]
    features += ["POLYGON_OFFSET_FILL", "COLOR_LOGIC_OP", "TEXTURE_2D", "MULTISAMPLE", "NORMALIZE"]
    state |= {name: bool(gl.glIsEnabled(getattr(gl, f"GL_{name}"))) for name in features}
    bound = int(gl.glGetIntegerv(gl.GL_VERTEX_ARRAY_BINDING))
    for array in {0, bound}:
        gl.glBindVertexArray(array)
        state[f"elements {array}"] = values("GL_ELEMENT_ARRAY_BUFFER_BINDING")
        for location in range(6):
            for question in ("ENABLED", "ARRAY_DIVISOR", "SIZE", "STRIDE", "BUFFER_BINDING"):
                name = (
                    f"GL_VERTEX_ATTRIB_ARRAY_{question}" if "DIV" not in question else "GL_VERTEX_ATTRIB_ARRAY_DIVISOR"
                )
                answer = gl.glGetVertexAttribiv(location, getattr(gl, name))
                state[f"{name} {location} of {array}"] = int(np.ravel(answer)[0])
    gl.glBindVertexArray(bound)
    return state


_ERROR_NAMES = (
    "GL_INVALID_ENUM",
    "GL_INVALID_VALUE",
    "GL_INVALID_OPERATION",
    "GL_STACK_OVERFLOW",
    "GL_STACK_UNDERFLOW",
    "GL_OUT_OF_MEMORY",
    "GL_INVALID_FRAMEBUFFER_OPERATION",
)


def gl_error() -> str | None:
    """Names of all pending OpenGL errors, which are cleared; None if there are none."""
    gl = load_opengl()
    known = {int(getattr(gl, name)): name for name in _ERROR_NAMES}
    errors = []
    # A lost context returns errors for ever.
    for _ in range(16):
        code = int(gl.glGetError())
        if code == gl.GL_NO_ERROR:
            break
        errors.append(known.get(code, hex(code)))
    return ", ".join(errors) or None
