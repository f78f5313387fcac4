"""Describes the scene of a page: shapes, meshes, textures, lights and cameras."""

import io
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..mjmodel.names import body_names, geom_names
from ..mjmodel.types import MjData, MjModel
from ..render.camera import scene_size
from ..render.view import USUAL_PICTURE, View
from .sections import Sections, png

_SHAPES = {0: "plane", 1: "hfield", 2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box"}
"""Names of shapes by the number of a geom's type."""
_MESHES = (7, 8)
"""Types that are drawn as meshes: meshes, and signed distance fields, whose surface is a mesh."""
_RGB, _RGBA = 1, 8
"""Roles of textures that colour a surface."""
_TEXTURES = {0: "2d", 1: "cube"}
_SKYBOX = 2
_DIRECTIONAL = 1
_LARGEST_TEXTURE = 1024
"""Longest side of a texture [px]; larger ones are made smaller."""
_LARGE_PICTURE = 40_000
"""Size of a PNG above which a texture is stored as JPEG, if that is smaller [bytes]."""
_MOST_TRIANGLES = 450_000
"""Number of triangles of all meshes above which near vertices are merged."""
_FIRST_DETAIL = 0.0005
"""First distance at which near vertices are merged [m]; doubled until there are few enough triangles."""
_GRID = 65535
"""Number of steps of a vertex coordinate within the box around its mesh."""
_STEEP = 1e-3
"""Share of the rows of a sky's texture whose mean is the colour at the horizon."""


class DrawnBodies(NamedTuple):
    """Bodies whose poses a page keeps."""

    ids: NDArray[np.intp]
    """Indices of the bodies that move on their own, (bodies,)."""
    place: NDArray[np.intp]
    """Index in `ids` of the body that each body is fixed to; -1 for the world, (nbody,)."""


def drawn_bodies(model: MjModel) -> DrawnBodies:
    """Return the bodies that move on their own. A body without joints moves with its parent."""
    moves = (model.body_dofnum > 0) | (model.body_mocapid >= 0)
    root = np.where(moves, np.arange(model.nbody), 0)
    for body in range(1, model.nbody):
        if not moves[body]:
            root[body] = root[model.body_parentid[body]]
    drawn = np.zeros(model.nbody, bool)
    drawn[root] = True
    drawn[0] = False
    place = np.full(model.nbody, -1)
    place[drawn] = np.arange(int(drawn.sum()))
    return DrawnBodies(np.flatnonzero(drawn), place[root])


class Geometry:
    """Writer of a scene's geometry into the manifest and the sections of a page."""

    def __init__(self, model: MjModel, data: MjData, view: View, sections: Sections, detail: float | None) -> None:
        """Read a scene.

        Args:
            model: Model of the scene.
            data: State at the first picture of the page.
            view: Camera and visible groups.
            sections: Sections that the arrays are added to.
            detail: Distance at which vertices are merged [m]; 0 merges none, None lets the number of triangles decide.
        """
        self.notes: list[str] = []
        """Objects that are not drawn, or drawn in less detail."""
        self._model, self._data, self._view, self._sections = model, data, view, sections
        self._bodies = drawn_bodies(model)
        self._materials: dict[int, int] = {}
        self._textures: dict[int, int] = {}
        self._meshes: dict[int, int] = {}
        self._hfields: dict[int, int] = {}
        self._about: dict[str, list[dict[str, Any]]] = {"materials": [], "textures": [], "meshes": [], "hfields": []}
        self._names = geom_names(model)
        self._color = self._colors()
        self._shown = self._shown_geoms()
        self._detail = self._fitting_detail() if detail is None else detail

    def manifest(self) -> dict[str, Any]:
        """Return the scene's part of the manifest. The arrays are added to the sections."""
        model, names = self._model, body_names(self._model)
        geoms = [self._geom(int(geom)) for geom in self._shown]
        self._note_omissions()
        return {
            "bodies": [{"name": names[body]} for body in self._bodies.ids.tolist()],
            "extent": scene_size(model),
            "center": np.array(model.stat.center),
            "geoms": geoms,
            **self._about,
            "lights": [self._light(light) for light in range(model.nlight) if model.light_active[light]],
            "headlight": self._headlight(),
            "sky": self._sky(),
            "haze": np.array(model.vis.rgba.haze)[:3],
            "camera": self._camera(),
            "cameras": [self._fixed_camera(camera, name) for camera, name in enumerate(self._view.cameras)],
        }

    def _shown_geoms(self) -> NDArray[np.intp]:
        """Return the geoms that the window shows with its visible groups."""
        model = self._model
        is_on = np.array(self._view.option.geomgroup, bool)[np.clip(model.geom_group, 0, 5)]
        return np.flatnonzero(is_on & (self._color[:, 3] > 0.0))

    def _colors(self) -> NDArray[np.float32]:
        """Return each geom's colour, its own or its material's, (ngeom, 4)."""
        model = self._model
        colors = np.array(model.geom_rgba)
        takes = (model.geom_matid >= 0) & (colors == (0.5, 0.5, 0.5, 1.0)).all(axis=1)
        colors[takes] = model.mat_rgba[model.geom_matid[takes]]
        return colors

    def _geom(self, geom: int) -> dict[str, Any]:
        model, data = self._model, self._data
        kind, shape = int(model.geom_type[geom]), int(model.geom_dataid[geom])
        matrix = np.reshape(data.geom_xmat[geom], (3, 3))
        body, position, matrix = self._on_body(model.geom_bodyid[geom], data.geom_xpos[geom], matrix)
        is_mesh = kind in _MESHES
        return {
            "name": self._names[geom],
            "type": "mesh" if is_mesh else _SHAPES[kind],
            "body": body,
            "pos": _rounded(position),
            "quat": _rounded(quaternion(matrix)),
            "size": _rounded(model.geom_size[geom]),
            "rgba": np.round(self._color[geom].astype(float), 4),
            "material": self._material(int(model.geom_matid[geom])),
            "mesh": self._mesh(shape) if is_mesh else -1,
            "hfield": self._hfield(shape) if _SHAPES.get(kind) == "hfield" else -1,
        }

    def _on_body(self, body: int, position: Any, turn: Any) -> tuple[int, NDArray[Any], NDArray[Any]]:
        """Return the index in `ids` of the drawn body that a body is fixed to, with a position and a rotation or
        direction in the drawn body's frame; -1 and both in the world's frame if the body does not move."""
        place, position, turn = int(self._bodies.place[body]), np.array(position), np.array(turn)
        if place < 0:
            return place, position, turn
        frame = int(self._bodies.ids[place])
        inverse = np.reshape(self._data.xmat[frame], (3, 3)).T
        return place, inverse @ (position - self._data.xpos[frame]), inverse @ turn

    def _material(self, material: int) -> int:
        if material >= 0 and material not in self._materials:
            model = self._model
            self._materials[material] = len(self._about["materials"])
            self._about["materials"].append(
                {
                    "texture": self._texture(self._color_texture(material)),
                    "repeat": _rounded(model.mat_texrepeat[material]),
                    "uniform": bool(model.mat_texuniform[material]),
                    **{
                        name: round(float(getattr(model, f"mat_{name}")[material]), 5)
                        for name in ("emission", "specular", "shininess", "reflectance")
                    },
                }
            )
        return self._materials.get(material, -1)

    def _color_texture(self, material: int) -> int:
        roles = [int(self._model.mat_texid[material, role]) for role in (_RGB, _RGBA)]
        return next((texture for texture in roles if texture >= 0), -1)

    def _texture(self, texture: int) -> int:
        kind = _TEXTURES.get(int(self._model.tex_type[texture])) if texture >= 0 else None
        if kind is not None and texture not in self._textures:
            pixels = _smaller(self._pixels(texture), _LARGEST_TEXTURE, kind == "cube")
            place = self._textures[texture] = len(self._about["textures"])
            content, mime = _picture_file(pixels)
            self._sections.add_file(f"texture{place}", "file", content)
            height, width = pixels.shape[:2]
            about = {"type": kind, "section": f"texture{place}", "mime": mime, "width": width, "height": height}
            self._about["textures"].append(about)
        return self._textures.get(texture, -1)

    def _pixels(self, texture: int) -> NDArray[np.uint8]:
        model = self._model
        height, width, channels = (int(getattr(model, f"tex_{name}")[texture]) for name in _PIXELS)
        start = int(model.tex_adr[texture])
        pixels = np.reshape(model.tex_data[start : start + height * width * channels], (height, width, channels))
        return np.repeat(pixels, 3, axis=2) if channels == 1 else np.asarray(pixels[..., : 4 if channels == 4 else 3])

    def _mesh(self, mesh: int) -> int:
        if mesh >= 0 and mesh not in self._meshes:
            place = self._meshes[mesh] = len(self._about["meshes"])
            vertices, triangles, coordinates = merged(*self._triangles(mesh), self._detail)
            vertices, triangles, coordinates = _in_order(vertices, triangles, coordinates)
            low = vertices.min(axis=0, initial=math.inf) if len(vertices) else np.zeros(3)
            step = (vertices.max(axis=0) - low if len(vertices) else np.zeros(3)) / _GRID
            steps = np.rint((vertices - low) / np.where(step > 0, step, 1.0))
            self._sections.add(f"mesh{place}_v", steps.astype("<u2").T, delta=True, planes=True)
            self._sections.add(f"mesh{place}_t", triangles.astype("<i4").T, delta=True, planes=True)
            if coordinates is not None:
                self._sections.add(f"mesh{place}_uv", coordinates.astype("<f4").T, planes=True)
            about = {"vertices": len(vertices), "triangles": len(triangles), "low": low, "step": step}
            self._about["meshes"].append(about | {"texcoord": coordinates is not None})
        return self._meshes.get(mesh, -1)

    def _triangles(self, mesh: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
        """Return vertices [m], (n, 3), triangles, (m, 3), and texture coordinates, (n, 2), if the mesh has any."""
        model = self._model
        start, first = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
        vertices = np.array(model.mesh_vert[start : start + int(model.mesh_vertnum[mesh])], float)
        faces = slice(first, first + int(model.mesh_facenum[mesh]))
        triangles = np.array(model.mesh_face[faces])
        start = int(model.mesh_texcoordadr[mesh])
        materials = model.geom_matid[(model.geom_dataid == mesh) & np.isin(model.geom_type, _MESHES)]
        textures = [self._color_texture(int(material)) for material in np.unique(materials[materials >= 0])]
        if start < 0 or not any(
            texture >= 0 and _TEXTURES.get(int(model.tex_type[texture])) == "2d" for texture in textures
        ):
            return vertices, triangles, None
        coordinates = np.array(model.mesh_texcoord[start : start + int(model.mesh_texcoordnum[mesh])])
        corners = np.stack([triangles.ravel(), np.array(model.mesh_facetexcoord[faces]).ravel()], axis=1)
        pairs, places = np.unique(corners, axis=0, return_inverse=True)
        return vertices[pairs[:, 0]], places.reshape(-1, 3), coordinates[pairs[:, 1]]

    def _fitting_detail(self) -> float:
        """Return the distance at which vertices are merged to keep to the limit of triangles [m]; 0 if all fit."""
        model, shown = self._model, self._shown
        used = np.unique(model.geom_dataid[shown][np.isin(model.geom_type[shown], _MESHES)])
        meshes = used[used >= 0].tolist()
        count, detail = sum(int(model.mesh_facenum[mesh]) for mesh in meshes), 0.0
        while count > _MOST_TRIANGLES and detail < 0.1:
            detail = 2.0 * detail or _FIRST_DETAIL
            parts = (self._triangles(mesh)[:2] for mesh in meshes)
            count = sum(len(merged(vertices, triangles, None, detail)[1]) for vertices, triangles in parts)
        return detail

    def _hfield(self, hfield: int) -> int:
        if hfield >= 0 and hfield not in self._hfields:
            model, place = self._model, len(self._about["hfields"])
            self._hfields[hfield] = place
            start, rows, columns = (int(getattr(model, f"hfield_{name}")[hfield]) for name in ("adr", "nrow", "ncol"))
            heights = np.reshape(model.hfield_data[start : start + rows * columns], (rows, columns))
            steps = np.rint(np.clip(heights, 0.0, 1.0) * _GRID).astype("<u2")
            self._sections.add(f"hfield{place}", steps, delta=True, planes=True)
            self._about["hfields"].append({"rows": rows, "cols": columns, "size": np.array(model.hfield_size[hfield])})
        return self._hfields.get(hfield, -1)

    def _light(self, light: int) -> dict[str, Any]:
        model, data = self._model, self._data
        body, position, direction = self._on_body(
            model.light_bodyid[light], data.light_xpos[light], data.light_xdir[light]
        )
        about = {name: np.array(getattr(model, f"light_{name}")[light], float) for name in _LIGHT}
        return about | {
            "directional": int(model.light_type[light]) == _DIRECTIONAL,
            "body": body,
            "pos": position,
            "dir": direction,
            "shadow": bool(model.light_castshadow[light]),
        }

    def _headlight(self) -> dict[str, Any] | None:
        headlight = self._model.vis.headlight
        if not headlight.active:
            return None
        return {name: np.array(getattr(headlight, name), float) for name in ("ambient", "diffuse", "specular")}

    def _sky(self) -> list[NDArray[np.float64]] | None:
        """Return the sky's colours overhead and at the horizon; None without a sky."""
        model = self._model
        for texture in np.flatnonzero(model.tex_type == _SKYBOX).tolist():
            pixels = self._pixels(texture)[..., :3] / 255.0
            width = pixels.shape[1]
            # Six faces one above the other, of which the third is up and the fifth a side.
            faces = [pixels[i * width : (i + 1) * width] for i in range(6)]
            if len(pixels) != 6 * width:
                faces = [pixels] * 6
            side, rows = faces[4], max(1, round(_STEEP * width))
            middle = len(side) // 2
            return [_rounded(faces[2].mean(axis=(0, 1))), _rounded(side[middle : middle + rows].mean(axis=(0, 1)))]
        return None

    def _camera(self) -> dict[str, Any]:
        """Return the window's camera as a free camera: the point that it looks at, distance and angles."""
        view = self._view
        matrices = view.matrices(self._model, self._data, USUAL_PICTURE)
        forward, camera = matrices.forward, view.camera
        distance = float(camera.distance)
        if view.camera_name is not None:
            places = self._data.xpos[self._bodies.ids]
            distance = float(np.median((places - matrices.position) @ forward)) if len(places) else distance
            distance = max(distance, 1e-3 * scene_size(self._model))
        projection, is_flat = matrices.projection, matrices.orthographic
        return {
            "lookat": matrices.position + distance * forward,
            "distance": distance,
            "azimuth": math.degrees(math.atan2(forward[1], forward[0])),
            "elevation": math.degrees(math.asin(min(max(float(forward[2]), -1.0), 1.0))),
            # Of an orthographic camera, MuJoCo keeps the height of the picture here [m].
            "fovy": 2.0 / projection[1, 1] if is_flat else math.degrees(2.0 * math.atan(1.0 / projection[1, 1])),
            "orthographic": is_flat,
            "near": projection[2, 3] / (projection[2, 2] - 1.0) if not is_flat else 0.0,
            "far": projection[2, 3] / (projection[2, 2] + 1.0) if not is_flat else 0.0,
        }

    def _fixed_camera(self, camera: int, name: str) -> dict[str, Any]:
        model, data = self._model, self._data
        matrix = np.reshape(data.cam_xmat[camera], (3, 3))
        body, position, matrix = self._on_body(model.cam_bodyid[camera], data.cam_xpos[camera], matrix)
        fovy = float(model.cam_fovy[camera])
        return {"name": name, "body": body, "pos": position, "quat": quaternion(matrix), "fovy": fovy}

    def _note_omissions(self) -> None:
        """Note the parts that the window draws and the page does not, or in less detail."""
        model, option = self._model, self._view.option
        sites = np.array(option.sitegroup, bool)[np.clip(model.site_group, 0, 5)] & (model.site_rgba[:, 3] > 0)
        counts = {"flex": model.nflex, "skin": model.nskin, "tendon": model.ntendon, "site": int(sites.sum())}
        found = [f"{count} {kind if count == 1 else _PLURALS[kind]}" for kind, count in counts.items() if count]
        if found:
            self.notes.append(f"Not drawn in this page: {', '.join(found)}.")
        if self._detail and self._about["meshes"]:
            self.notes.append(f"Vertices of meshes nearer than {1e3 * self._detail:g} mm are merged.")
        hidden = model.ngeom - len(self._shown)
        if hidden:
            self.notes.append(f"{hidden} of {model.ngeom} geoms are hidden, as in the window.")


_PIXELS = ("height", "width", "nchannel")
_LIGHT = ("ambient", "diffuse", "specular", "attenuation", "cutoff", "exponent")
_PLURALS = {"flex": "flexes", "skin": "skins", "tendon": "tendons", "site": "sites"}


def merged(
    vertices: NDArray[Any], triangles: NDArray[Any], coordinates: NDArray[Any] | None, detail: float
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Return a mesh with one vertex for each occupied cell of a grid, without the triangles that vanish.

    Args:
        vertices: Positions [m], (n, 3).
        triangles: Vertices of each triangle, (m, 3).
        coordinates: Texture coordinates, (n, 2), if there are any.
        detail: Size of a cell [m]; 0 leaves the mesh as it is.
    """
    if detail <= 0.0 or not len(vertices):
        return vertices, triangles, coordinates
    cells = np.rint(vertices / detail).astype(np.int64)
    _, first, place, counts = np.unique(cells, axis=0, return_index=True, return_inverse=True, return_counts=True)
    place = place.ravel()
    mean = np.stack([np.bincount(place, vertices[:, axis]) for axis in range(3)], axis=1) / counts[:, None]
    triangles = place[triangles]
    a, b, c = triangles.T
    return mean, triangles[(a != b) & (b != c) & (a != c)], None if coordinates is None else coordinates[first]


def _in_order(
    vertices: NDArray[Any], triangles: NDArray[Any], coordinates: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Return a mesh with its triangles along a Morton curve and its vertices in the order of their first use."""
    if not len(triangles):
        return vertices[:0], triangles[:0], None if coordinates is None else coordinates[:0]
    middles = vertices[triangles].mean(axis=1)
    low, size = middles.min(axis=0), np.ptp(middles, axis=0).max()
    cells = ((middles - low) * (1023.0 / max(float(size), 1e-300))).astype(np.int64)
    code = np.zeros(len(cells), np.int64)
    for bit in range(10):
        for axis in range(3):
            code |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    triangles = triangles[np.argsort(code, kind="stable")]
    used, first = np.unique(triangles.ravel(), return_index=True)
    order = used[np.argsort(first)]
    place = np.zeros(len(vertices), np.int64)
    place[order] = np.arange(len(order))
    triangles = place[triangles]
    # The smallest number comes first: then differences are small. The side that a triangle faces stays.
    turn = (triangles.argmin(axis=1)[:, None] + np.arange(3)) % 3
    triangles = np.take_along_axis(triangles, turn, axis=1)
    return vertices[order], triangles, None if coordinates is None else coordinates[order]


def quaternion(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the unit quaternion, w, x, y, z, of a rotation matrix, (3, 3)."""
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()
    squares = np.array([1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i])
    rows = np.array(
        [
            [squares[0], h - f, c - g, d - b],
            [h - f, squares[1], d + b, c + g],
            [c - g, d + b, squares[2], h + f],
            [d - b, c + g, h + f, squares[3]],
        ]
    )
    row = rows[int(np.argmax(squares))]
    return np.asarray(row / np.linalg.norm(row))


def _picture_file(pixels: NDArray[np.uint8]) -> tuple[bytes, str]:
    """Return pixels as a PNG, or as a JPEG if this is smaller and has all channels, and the kind of the file."""
    from PIL import Image

    content = png(pixels)
    if len(content) > _LARGE_PICTURE and pixels.shape[2] == 3:
        buffer = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, "JPEG", quality=85)
        if buffer.tell() < len(content):
            return buffer.getvalue(), "image/jpeg"
    return content, "image/png"


def _smaller(pixels: NDArray[np.uint8], largest: int, is_cube: bool) -> NDArray[np.uint8]:
    """Return a picture whose longest side has at most `largest` pixels; of a cube, the side of a face counts."""
    height, width = pixels.shape[:2]
    every = -(-max(width if is_cube else height, width) // largest)
    return pixels if every == 1 else np.ascontiguousarray(pixels[every // 2 :: every, every // 2 :: every])


def _rounded(values: Any) -> NDArray[np.float64]:
    """Return numbers with eight digits after the point, which is finer than any picture."""
    return np.round(np.asarray(values, float), 8)
