"""Shader programs and instanced meshes: compile errors, uniforms, and objects that are freed."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from contact_viewer import assets
from contact_viewer.render import gl as gl_module
from contact_viewer.render.contexts import OpenGLError, load_opengl
from contact_viewer.render.gl import Buffer, InstancedMesh, Program, gl_supports

from .gl_state import gl_error
from .pictures import count_objects

VERTEX = """#version 120
attribute vec2 corner;
uniform mat4 projection;
void main() { gl_Position = projection * vec4(corner, 0.0, 1.0); }
"""
FRAGMENT = """#version 120
#include "tint.glsl"
uniform float opacity;
void main()
{
    gl_FragColor = tint() * opacity;
}
"""
TINT = """// A colour.
vec4 tint() { return vec4(1.0, 0.5, 0.25, 1.0); }
"""


@pytest.fixture
def shaders(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Shader files that a test can change."""
    sources = {"test.vert": VERTEX, "test.frag": FRAGMENT, "tint.glsl": TINT}
    monkeypatch.setattr(gl_module, "shader_source", sources.__getitem__)
    return sources


@pytest.mark.usefixtures("context")
def test_compile_error_names_file_and_line(shaders: dict[str, str]) -> None:
    shaders["test.frag"] = FRAGMENT.replace("gl_FragColor =", "gl_FragColor = nonsense *")
    with pytest.raises(OpenGLError, match=r"test\.frag:6\b.*nonsense"):
        Program("test", ["corner"])
    assert gl_error() is None


@pytest.mark.usefixtures("context")
def test_compile_error_in_an_included_file_names_that_file(shaders: dict[str, str]) -> None:
    shaders["tint.glsl"] = TINT.replace("vec4(1.0", "vec4(missing")
    with pytest.raises(OpenGLError, match=r"tint\.glsl:2\b.*missing"):
        Program("test", ["corner"])
    with pytest.raises(OpenGLError, match=r"tint\.glsl:2\b.*missing"):
        Program("test", ["corner"], defines=("WORD", "OTHER"))


@pytest.mark.usefixtures("context")
def test_link_error_names_both_files(shaders: dict[str, str]) -> None:
    shaders["test.frag"] = FRAGMENT.replace("tint() * opacity", "tint() * opacity * lost").replace(
        "uniform float", "varying float lost;\nuniform float"
    )
    with pytest.raises(OpenGLError, match=r"test\.vert and test\.frag.*lost"):
        Program("test", ["corner"])


@pytest.mark.usefixtures("context")
def test_defines_switch_code_on(shaders: dict[str, str]) -> None:
    shaders["test.frag"] = FRAGMENT.replace("void main()", "#ifdef BROKEN\nsyntax error\n#endif\nvoid main()")
    Program("test", ["corner"]).close()
    with pytest.raises(OpenGLError, match=r"test\.frag:5"):
        Program("test", ["corner"], defines=["BROKEN"])


@pytest.mark.usefixtures("context", "shaders")
def test_uniforms_arrive_and_unknown_ones_are_ignored() -> None:
    gl = load_opengl()
    program = Program("test", ["corner"])
    program.use()
    matrix = np.arange(16.0).reshape(4, 4)
    program.set("projection", matrix)
    program.set("opacity", 0.25)
    program.set("unused", 1.0)
    number = int(gl.glGetIntegerv(gl.GL_CURRENT_PROGRAM))
    values = np.zeros(16, np.float32)
    gl.glGetUniformfv(number, gl.glGetUniformLocation(number, "projection"), values)
    # OpenGL keeps matrices column by column.
    assert values.reshape(4, 4).T.tolist() == matrix.tolist()
    gl.glUseProgram(0)
    program.close()


@pytest.mark.usefixtures("context", "shaders")
@pytest.mark.parametrize("own_vertex_array", [True, False])
def test_closing_frees_and_is_safe_twice(own_vertex_array: bool) -> None:
    gl = load_opengl()
    before = count_objects()
    program, buffer = Program("test", ["corner"]), Buffer()
    buffer.fill(np.zeros(3, np.float32))
    mesh = InstancedMesh(
        np.zeros((3, 2), np.float32), np.arange(3, dtype=np.uint16), [2], [4], own_vertex_array=own_vertex_array
    )
    mesh.upload(np.zeros((5, 4), np.float32))
    assert count_objects() != before
    gl.glBindBuffer(gl.GL_ARRAY_BUFFER, 0)
    for part in (program, buffer, mesh):
        part.close()
        part.close()
    assert count_objects() == before


@pytest.mark.usefixtures("context", "shaders")
def test_a_program_that_fails_leaves_nothing(shaders: dict[str, str]) -> None:
    shaders["test.frag"] = "#version 120\nbroken"
    before = count_objects()
    for _ in range(3):
        with pytest.raises(OpenGLError):
            Program("test", ["corner"])
    assert count_objects() == before


@pytest.mark.usefixtures("context")
def test_errors_are_named_and_cleared() -> None:
    from OpenGL.platform import PLATFORM

    # The library's own functions: PyOpenGL's would take the errors.
    PLATFORM.GL.glEnable(0xBAD)
    assert gl_error() == "GL_INVALID_ENUM"
    PLATFORM.GL.glEnd()
    assert gl_error() == "GL_INVALID_OPERATION"
    assert gl_error() is None


@pytest.mark.usefixtures("context")
def test_support_is_by_version_or_by_all_extensions() -> None:
    assert gl_supports((1, 1))
    assert not gl_supports((99, 0))
    assert gl_supports((99, 0), "ARB_instanced_arrays", "ARB_draw_instanced")
    assert not gl_supports((99, 0), "ARB_instanced_arrays", "ARB_of_no_return")


def test_every_shader_file_has_a_header_comment_and_its_partner() -> None:
    folder = Path(str(files("contact_viewer.shaders")))
    names = {path.name for path in folder.iterdir() if path.suffix in (".vert", ".frag", ".glsl")}
    assert {"sphere.vert", "sphere.frag", "arrow.vert", "arrow.frag", "lighting.glsl"} <= names
    for name in names:
        stem, _, kind = name.partition(".")
        if kind in ("vert", "frag"):
            assert {f"{stem}.vert", f"{stem}.frag"} <= names
            first, second = assets.shader_source(name).splitlines()[:2]
            assert first == "#version 120"
            assert second.startswith("// ")
        else:
            assert assets.shader_source(name).startswith("// ")
