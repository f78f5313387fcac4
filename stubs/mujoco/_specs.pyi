# Made by stubs/make_mujoco_stubs.py from MuJoCo 4.0.0.
# mypy: disable-error-code="misc, overload-overlap, overload-cannot-match, override"

import builtins
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload
import numpy as np
from numpy.typing import ArrayLike, NDArray
from mujoco._stub_types import Field, Integer, Numbers, Real
from mujoco import _enums, _structs

class MjByteVec:
    def __getitem__(self, arg0: Integer) -> Any: ...
    def __init__(self, arg0: Any, arg1: Integer) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def __setitem__(self, arg0: Integer, arg1: Any) -> None: ...

class MjCharVec:
    def __getitem__(self, arg0: Integer) -> str: ...
    def __init__(self, arg0: str, arg1: Integer) -> None: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def __setitem__(self, arg0: Integer, arg1: str) -> None: ...

class MjDoubleVec:
    def __getitem__(self, arg0: Integer) -> float: ...
    def __init__(self, arg0: Real, arg1: Integer) -> None: ...
    def __iter__(self) -> Iterator[float]: ...
    def __len__(self) -> int: ...
    def __setitem__(self, arg0: Integer, arg1: Real) -> None: ...

class MjFloatVec:
    def __getitem__(self, arg0: Integer) -> float: ...
    def __init__(self, arg0: Real, arg1: Integer) -> None: ...
    def __iter__(self) -> Iterator[float]: ...
    def __len__(self) -> int: ...
    def __setitem__(self, arg0: Integer, arg1: Real) -> None: ...

class MjIntVec:
    def __getitem__(self, arg0: Integer) -> int: ...
    def __init__(self, arg0: Integer, arg1: Integer) -> None: ...
    def __iter__(self) -> Iterator[int]: ...
    def __len__(self) -> int: ...
    def __setitem__(self, arg0: Integer, arg1: Integer) -> None: ...

class MjOption:
    ccd_iterations: Field[int, Integer]
    ccd_tolerance: Field[float, Real]
    cone: Field[int, Integer]
    density: Field[float, Real]
    disableactuator: Field[int, Integer]
    disableflags: Field[int, Integer]
    enableflags: Field[int, Integer]
    gravity: Field[NDArray[np.float64], ArrayLike]
    impratio: Field[float, Real]
    integrator: Field[int, Integer]
    iterations: Field[int, Integer]
    jacobian: Field[int, Integer]
    ls_iterations: Field[int, Integer]
    ls_tolerance: Field[float, Real]
    magnetic: Field[NDArray[np.float64], ArrayLike]
    noslip_iterations: Field[int, Integer]
    noslip_tolerance: Field[float, Real]
    o_friction: Field[NDArray[np.float64], ArrayLike]
    o_margin: Field[float, Real]
    o_solimp: Field[NDArray[np.float64], ArrayLike]
    o_solref: Field[NDArray[np.float64], ArrayLike]
    sdf_initpoints: Field[int, Integer]
    sdf_iterations: Field[int, Integer]
    sleep_tolerance: Field[float, Real]
    solver: Field[int, Integer]
    timestep: Field[float, Real]
    tolerance: Field[float, Real]
    viscosity: Field[float, Real]
    wind: Field[NDArray[np.float64], ArrayLike]

class MjSpec:
    def __init__(self) -> None: ...
    @property
    def _address(self) -> int: ...
    def activate_plugin(self, name: str) -> None: ...
    def actuator(self, arg0: str) -> MjsActuator | None: ...
    @property
    def actuators(self) -> list[MjsActuator]: ...
    def add_actuator(self, default: MjsDefault | None = ..., name: str | None = ..., type: Integer | None = ..., gaintype: Integer | None = ..., gainprm: Numbers | None = ..., biastype: Integer | None = ..., biasprm: Numbers | None = ..., dyntype: Integer | None = ..., dynprm: Numbers | None = ..., actdim: Integer | None = ..., ctrlspec: Integer | None = ..., velrange: Numbers | None = ..., ffrange: Numbers | None = ..., actearly: Integer | None = ..., trntype: Integer | None = ..., gear: Numbers | None = ..., target: str | None = ..., refsite: str | None = ..., slidersite: str | None = ..., cranklength: Real | None = ..., lengthrange: Numbers | None = ..., inheritrange: Real | None = ..., damping: object | None = ..., armature: Real | None = ..., ctrllimited: Integer | None = ..., ctrlrange: Numbers | None = ..., forcelimited: Integer | None = ..., forcerange: Numbers | None = ..., actlimited: Integer | None = ..., actrange: Numbers | None = ..., group: Integer | None = ..., nsample: Integer | None = ..., interp: Integer | None = ..., delay: Real | None = ..., userdata: Numbers | None = ..., plugin: MjsPlugin | None = ..., info: str | None = ...) -> MjsActuator: ...
    def add_default(self, arg0: str, arg1: MjsDefault) -> MjsDefault: ...
    def add_equality(self, default: MjsDefault | None = ..., name: str | None = ..., type: Integer | None = ..., data: Numbers | None = ..., active: Integer | None = ..., name1: str | None = ..., name2: str | None = ..., objtype: Integer | None = ..., solref: Numbers | None = ..., solimp: Numbers | None = ..., info: str | None = ...) -> MjsEquality: ...
    def add_exclude(self, name: str | None = ..., bodyname1: str | None = ..., bodyname2: str | None = ..., info: str | None = ...) -> MjsExclude: ...
    def add_flex(self, name: str | None = ..., contype: Integer | None = ..., conaffinity: Integer | None = ..., condim: Integer | None = ..., priority: Integer | None = ..., friction: Numbers | None = ..., solmix: Real | None = ..., solref: Numbers | None = ..., solimp: Numbers | None = ..., margin: Real | None = ..., gap: Real | None = ..., dim: Integer | None = ..., radius: Real | None = ..., size: object | None = ..., flatskin: Integer | None = ..., selfcollide: Integer | None = ..., passive: Integer | None = ..., activelayers: Integer | None = ..., group: Integer | None = ..., edgestiffness: Real | None = ..., edgedamping: Real | None = ..., rgba: Numbers | None = ..., material: Sequence[str] | None = ..., young: Real | None = ..., poisson: Real | None = ..., shear: Real | None = ..., damping: Real | None = ..., thickness: Real | None = ..., stressyield: Numbers | None = ..., elastic2d: Integer | None = ..., elastic3d: Integer | None = ..., section: Integer | None = ..., sectionsize: Numbers | None = ..., cellcount: Numbers | None = ..., order: Integer | None = ..., nodebody: Sequence[str] | None = ..., vertbody: Sequence[str] | None = ..., node: Numbers | None = ..., vert: Numbers | None = ..., elem: Numbers | None = ..., texcoord: Numbers | None = ..., elemtexcoord: Numbers | None = ..., info: str | None = ...) -> MjsFlex: ...
    def add_hfield(self, name: str | None = ..., content_type: str | None = ..., file: str | None = ..., size: Numbers | None = ..., nrow: Integer | None = ..., ncol: Integer | None = ..., userdata: Numbers | None = ..., info: str | None = ...) -> MjsHField: ...
    def add_key(self, name: str | None = ..., time: Real | None = ..., qpos: Numbers | None = ..., qvel: Numbers | None = ..., act: Numbers | None = ..., mpos: Numbers | None = ..., mquat: Numbers | None = ..., ctrl: Numbers | None = ..., plastic: Numbers | None = ..., info: str | None = ...) -> MjsKey: ...
    def add_material(self, default: MjsDefault | None = ..., name: str | None = ..., textures: Sequence[str] | None = ..., texuniform: Integer | None = ..., texrepeat: Numbers | None = ..., emission: Real | None = ..., specular: Real | None = ..., shininess: Real | None = ..., reflectance: Real | None = ..., metallic: Real | None = ..., roughness: Real | None = ..., rgba: Numbers | None = ..., info: str | None = ...) -> MjsMaterial: ...
    def add_mesh(self, default: MjsDefault | None = ..., name: str | None = ..., content_type: str | None = ..., file: str | None = ..., refpos: Numbers | None = ..., refquat: Numbers | None = ..., scale: Numbers | None = ..., inertia: Integer | None = ..., smoothnormal: Integer | None = ..., needsdf: Integer | None = ..., maxhullvert: Integer | None = ..., uservert: Numbers | None = ..., usernormal: Numbers | None = ..., usertexcoord: Numbers | None = ..., userface: Numbers | None = ..., userfacenormal: Numbers | None = ..., userfacetexcoord: Numbers | None = ..., usernode: Numbers | None = ..., usertet: Numbers | None = ..., plugin: MjsPlugin | None = ..., material: str | None = ..., octree_maxdepth: Integer | None = ..., info: str | None = ...) -> MjsMesh: ...
    def add_numeric(self, name: str | None = ..., data: Numbers | None = ..., size: Integer | None = ..., info: str | None = ...) -> MjsNumeric: ...
    def add_pair(self, default: MjsDefault | None = ..., name: str | None = ..., geomname1: str | None = ..., geomname2: str | None = ..., condim: Integer | None = ..., solref: Numbers | None = ..., solreffriction: Numbers | None = ..., solimp: Numbers | None = ..., margin: Real | None = ..., gap: Real | None = ..., adhesion: Real | None = ..., friction: Numbers | None = ..., info: str | None = ...) -> MjsPair: ...
    def add_plugin(self, name: str | None = ..., plugin_name: str | None = ..., active: Integer | None = ..., info: str | None = ...) -> MjsPlugin: ...
    def add_sensor(self, name: str | None = ..., type: Integer | None = ..., objtype: Integer | None = ..., objname: str | None = ..., reftype: Integer | None = ..., refname: str | None = ..., intprm: Numbers | None = ..., datatype: Integer | None = ..., needstage: Integer | None = ..., dim: Integer | None = ..., cutoff: Real | None = ..., noise: Real | None = ..., nsample: Integer | None = ..., interp: Integer | None = ..., delay: Real | None = ..., interval: Numbers | None = ..., userdata: Numbers | None = ..., plugin: MjsPlugin | None = ..., info: str | None = ...) -> MjsSensor: ...
    def add_skin(self, name: str | None = ..., file: str | None = ..., material: str | None = ..., rgba: Numbers | None = ..., inflate: Real | None = ..., group: Integer | None = ..., vert: Numbers | None = ..., texcoord: Numbers | None = ..., face: Numbers | None = ..., bodyname: Sequence[str] | None = ..., bindpos: Numbers | None = ..., bindquat: Numbers | None = ..., vertid: Sequence[Numbers] | None = ..., vertweight: Sequence[Numbers] | None = ..., info: str | None = ...) -> MjsSkin: ...
    def add_tendon(self, default: MjsDefault | None = ..., name: str | None = ..., stiffness: object | None = ..., springlength: Numbers | None = ..., springyield: Real | None = ..., damping: object | None = ..., frictionloss: Real | None = ..., solref_friction: Numbers | None = ..., solimp_friction: Numbers | None = ..., armature: Real | None = ..., limited: Integer | None = ..., actfrclimited: Integer | None = ..., range: Numbers | None = ..., actfrcrange: Numbers | None = ..., margin: Real | None = ..., solref_limit: Numbers | None = ..., solimp_limit: Numbers | None = ..., material: str | None = ..., width: Real | None = ..., rgba: Numbers | None = ..., group: Integer | None = ..., userdata: Numbers | None = ..., info: str | None = ...) -> MjsTendon: ...
    def add_text(self, name: str | None = ..., data: str | None = ..., info: str | None = ...) -> MjsText: ...
    def add_texture(self, default: MjsDefault | None = ..., name: str | None = ..., type: Integer | None = ..., colorspace: Integer | None = ..., builtin: Integer | None = ..., mark: Integer | None = ..., rgb1: Numbers | None = ..., rgb2: Numbers | None = ..., markrgb: Numbers | None = ..., random: Real | None = ..., height: Integer | None = ..., width: Integer | None = ..., nchannel: Integer | None = ..., content_type: str | None = ..., file: str | None = ..., gridsize: Numbers | None = ..., gridlayout: object | None = ..., cubefiles: Sequence[str] | None = ..., data: Numbers | None = ..., hflip: Integer | None = ..., vflip: Integer | None = ..., embed: Integer | None = ..., info: str | None = ...) -> MjsTexture: ...
    def add_tuple(self, name: str | None = ..., objtype: Numbers | None = ..., objname: Sequence[str] | None = ..., objprm: Numbers | None = ..., info: str | None = ...) -> MjsTuple: ...
    def adopt_inertial(self, body: MjsBody, vfs: MjVfs | None = ...) -> None: ...
    assets: dict[Any, Any]
    def attach(self, child: MjSpec, prefix: str | None = ..., suffix: str | None = ..., site: object | None = ..., frame: object | None = ...) -> MjsFrame: ...
    authored: MjsAuthored
    @property
    def bodies(self) -> list[MjsBody]: ...
    def body(self, arg0: str) -> MjsBody | None: ...
    def camera(self, arg0: str) -> MjsCamera | None: ...
    @property
    def cameras(self) -> list[MjsCamera]: ...
    comment: str
    def compile(self, vfs: MjVfs | None = ...) -> _structs.MjModel: ...
    compiler: MjsCompiler
    def copy(self) -> MjSpec: ...
    def copy_back(self, model: object) -> None: ...
    copy_during_attach: Field[None, bool]
    def dedup_assets(self) -> int: ...
    @property
    def default(self) -> MjsDefault: ...
    @overload
    def delete(self, arg0: MjsDefault) -> None: ...
    @overload
    def delete(self, arg0: MjsBody) -> None: ...
    @overload
    def delete(self, arg0: MjsFrame) -> None: ...
    @overload
    def delete(self, arg0: MjsGeom) -> None: ...
    @overload
    def delete(self, arg0: MjsJoint) -> None: ...
    @overload
    def delete(self, arg0: MjsSite) -> None: ...
    @overload
    def delete(self, arg0: MjsCamera) -> None: ...
    @overload
    def delete(self, arg0: MjsLight) -> None: ...
    @overload
    def delete(self, arg0: MjsMaterial) -> None: ...
    @overload
    def delete(self, arg0: MjsMesh) -> None: ...
    @overload
    def delete(self, arg0: MjsPair) -> None: ...
    @overload
    def delete(self, arg0: MjsEquality) -> None: ...
    @overload
    def delete(self, arg0: MjsActuator) -> None: ...
    @overload
    def delete(self, arg0: MjsTendon) -> None: ...
    @overload
    def delete(self, arg0: MjsSensor) -> None: ...
    @overload
    def delete(self, arg0: MjsFlex) -> None: ...
    @overload
    def delete(self, arg0: MjsHField) -> None: ...
    @overload
    def delete(self, arg0: MjsSkin) -> None: ...
    @overload
    def delete(self, arg0: MjsTexture) -> None: ...
    @overload
    def delete(self, arg0: MjsKey) -> None: ...
    @overload
    def delete(self, arg0: MjsText) -> None: ...
    @overload
    def delete(self, arg0: MjsNumeric) -> None: ...
    @overload
    def delete(self, arg0: MjsExclude) -> None: ...
    @overload
    def delete(self, arg0: MjsTuple) -> None: ...
    @overload
    def delete(self, arg0: MjsPlugin) -> None: ...
    def discard_visual(self, vfs: MjVfs | None = ...) -> int: ...
    def encode(self, filename: str, model: object | None = ..., content_type: str | None = ...) -> int: ...
    @property
    def equalities(self) -> list[MjsEquality]: ...
    def equality(self, arg0: str) -> MjsEquality | None: ...
    def exclude(self, arg0: str) -> MjsExclude | None: ...
    @property
    def excludes(self) -> list[MjsExclude]: ...
    def find_default(self, arg0: str) -> MjsDefault | None: ...
    def flex(self, arg0: str) -> MjsFlex | None: ...
    @property
    def flexes(self) -> list[MjsFlex]: ...
    def frame(self, arg0: str) -> MjsFrame | None: ...
    @property
    def frames(self) -> list[MjsFrame]: ...
    @staticmethod
    def from_file(filename: str, include: Mapping[str, bytes] | None = ..., assets: dict[Any, Any] | None = ..., vfs: MjVfs | None = ...) -> MjSpec: ...
    @staticmethod
    def from_string(xml: str, include: Mapping[str, bytes] | None = ..., assets: dict[Any, Any] | None = ..., vfs: MjVfs | None = ...) -> MjSpec: ...
    @staticmethod
    def from_zip(file: Any) -> MjSpec: ...
    def fuse_static(self, vfs: MjVfs | None = ...) -> int: ...
    def geom(self, arg0: str) -> MjsGeom | None: ...
    @property
    def geoms(self) -> list[MjsGeom]: ...
    hasImplicitPluginElem: bool
    def hfield(self, arg0: str) -> MjsHField | None: ...
    @property
    def hfields(self) -> list[MjsHField]: ...
    def joint(self, arg0: str) -> MjsJoint | None: ...
    @property
    def joints(self) -> list[MjsJoint]: ...
    def key(self, arg0: str) -> MjsKey | None: ...
    @property
    def keys(self) -> list[MjsKey]: ...
    def light(self, arg0: str) -> MjsLight | None: ...
    @property
    def lights(self) -> list[MjsLight]: ...
    def material(self, arg0: str) -> MjsMaterial | None: ...
    @property
    def materials(self) -> list[MjsMaterial]: ...
    memory: Field[int, Integer]
    def mesh(self, arg0: str) -> MjsMesh | None: ...
    meshdir: str
    @property
    def meshes(self) -> list[MjsMesh]: ...
    modelfiledir: str
    modelname: str
    nconmax: Field[int, Integer]
    nemax: Field[int, Integer]
    njmax: Field[int, Integer]
    nkey: Field[int, Integer]
    nstack: Field[int, Integer]
    def numeric(self, arg0: str) -> MjsNumeric | None: ...
    @property
    def numerics(self) -> list[MjsNumeric]: ...
    nuser_actuator: Field[int, Integer]
    nuser_body: Field[int, Integer]
    nuser_cam: Field[int, Integer]
    nuser_geom: Field[int, Integer]
    nuser_jnt: Field[int, Integer]
    nuser_sensor: Field[int, Integer]
    nuser_site: Field[int, Integer]
    nuser_tendon: Field[int, Integer]
    nuserdata: Field[int, Integer]
    option: MjOption
    override_assets: bool
    def pair(self, arg0: str) -> MjsPair | None: ...
    @property
    def pairs(self) -> list[MjsPair]: ...
    @property
    def parent(self) -> MjSpec: ...
    def plugin(self, arg0: str) -> MjsPlugin | None: ...
    @property
    def plugins(self) -> list[MjsPlugin]: ...
    def recompile(self, m: object, d: object, vfs: MjVfs | None = ...) -> builtins.tuple[_structs.MjModel, _structs.MjData]: ...
    @staticmethod
    def resolve_orientation(degree: bool, *, sequence: MjCharVec | None = ..., orientation: MjsOrientation) -> list[float]: ...
    def sensor(self, arg0: str) -> MjsSensor | None: ...
    @property
    def sensors(self) -> list[MjsSensor]: ...
    def site(self, arg0: str) -> MjsSite | None: ...
    @property
    def sites(self) -> list[MjsSite]: ...
    def skin(self, arg0: str) -> MjsSkin | None: ...
    @property
    def skins(self) -> list[MjsSkin]: ...
    stat: MjStatistic
    strippath: bool
    def tendon(self, arg0: str) -> MjsTendon | None: ...
    @property
    def tendons(self) -> list[MjsTendon]: ...
    def text(self, arg0: str) -> MjsText | None: ...
    @property
    def texts(self) -> list[MjsText]: ...
    def texture(self, arg0: str) -> MjsTexture | None: ...
    texturedir: str
    @property
    def textures(self) -> list[MjsTexture]: ...
    @property
    def timer(self) -> NDArray[np.float64]: ...
    def to_file(self, arg0: str) -> None: ...
    def to_xml(self) -> str: ...
    def to_zip(self, file: Any) -> None: ...
    def tuple(self, arg0: str) -> MjsTuple | None: ...
    @property
    def tuples(self) -> list[MjsTuple]: ...
    visual: MjVisual
    @property
    def worldbody(self) -> MjsBody: ...

class MjStatistic:
    center: Field[NDArray[np.float64], ArrayLike]
    extent: Field[float, Real]
    meaninertia: Field[float, Real]
    meanmass: Field[float, Real]
    meansize: Field[float, Real]

class MjStringVec:
    def __getitem__(self, arg0: Integer) -> str: ...
    def __init__(self, arg0: str, arg1: Integer) -> None: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def __setitem__(self, arg0: Integer, arg1: str) -> None: ...

class MjVfs:
    def __contains__(self, arg0: str) -> bool: ...
    def __delitem__(self, arg0: str) -> None: ...
    def __enter__(self) -> MjVfs: ...
    def __exit__(self, arg0: object, arg1: object, arg2: object) -> None: ...
    def __init__(self) -> None: ...
    def __setitem__(self, arg0: str, arg1: bytes) -> None: ...
    def close(self) -> None: ...

class MjVisual:
    global_: _structs.MjVisual.Global
    headlight: MjVisualHeadlight
    map: _structs.MjVisual.Map
    quality: _structs.MjVisual.Quality
    rgba: MjVisualRgba
    scale: _structs.MjVisual.Scale

class MjVisualHeadlight:
    active: Field[int, Integer]
    ambient: Field[NDArray[np.float32], ArrayLike]
    diffuse: Field[NDArray[np.float32], ArrayLike]
    specular: Field[NDArray[np.float32], ArrayLike]

class MjVisualRgba:
    actuator: Field[NDArray[np.float32], ArrayLike]
    actuatornegative: Field[NDArray[np.float32], ArrayLike]
    actuatorpositive: Field[NDArray[np.float32], ArrayLike]
    bv: Field[NDArray[np.float32], ArrayLike]
    bvactive: Field[NDArray[np.float32], ArrayLike]
    camera: Field[NDArray[np.float32], ArrayLike]
    com: Field[NDArray[np.float32], ArrayLike]
    connect: Field[NDArray[np.float32], ArrayLike]
    constraint: Field[NDArray[np.float32], ArrayLike]
    contactforce: Field[NDArray[np.float32], ArrayLike]
    contactfriction: Field[NDArray[np.float32], ArrayLike]
    contactgap: Field[NDArray[np.float32], ArrayLike]
    contactpoint: Field[NDArray[np.float32], ArrayLike]
    contacttorque: Field[NDArray[np.float32], ArrayLike]
    crankbroken: Field[NDArray[np.float32], ArrayLike]
    fog: Field[NDArray[np.float32], ArrayLike]
    force: Field[NDArray[np.float32], ArrayLike]
    frustum: Field[NDArray[np.float32], ArrayLike]
    haze: Field[NDArray[np.float32], ArrayLike]
    inertia: Field[NDArray[np.float32], ArrayLike]
    joint: Field[NDArray[np.float32], ArrayLike]
    light: Field[NDArray[np.float32], ArrayLike]
    rangefinder: Field[NDArray[np.float32], ArrayLike]
    selectpoint: Field[NDArray[np.float32], ArrayLike]
    slidercrank: Field[NDArray[np.float32], ArrayLike]

class MjsActuator:
    actdim: Field[int, Integer]
    actearly: bool
    actlimited: Field[_enums.mjtLimited, Integer]
    actrange: Field[NDArray[np.float64], ArrayLike]
    armature: Field[float, Real]
    biasprm: Field[NDArray[np.float64], ArrayLike]
    biastype: Field[_enums.mjtBias, Integer]
    classname: MjsDefault
    @property
    def compiler(self) -> MjsCompiler: ...
    cranklength: Field[float, Real]
    ctrllimited: Field[_enums.mjtLimited, Integer]
    ctrlrange: Field[NDArray[np.float64], ArrayLike]
    ctrlspec: Field[int, Integer]
    damping: Field[NDArray[np.float64], ArrayLike]
    delay: Field[float, Real]
    dynprm: Field[NDArray[np.float64], ArrayLike]
    dyntype: Field[_enums.mjtDyn, Integer]
    ffrange: Field[NDArray[np.float64], ArrayLike]
    forcelimited: Field[_enums.mjtLimited, Integer]
    forcerange: Field[NDArray[np.float64], ArrayLike]
    gainprm: Field[NDArray[np.float64], ArrayLike]
    gaintype: Field[_enums.mjtGain, Integer]
    gear: Field[NDArray[np.float64], ArrayLike]
    group: Field[int, Integer]
    @property
    def id(self) -> int: ...
    info: str
    inheritrange: Field[float, Real]
    interp: Field[int, Integer]
    lengthrange: Field[NDArray[np.float64], ArrayLike]
    name: str
    nsample: Field[int, Integer]
    plugin: MjsPlugin
    refsite: str
    def set_to_adhesion(self, gain: Real) -> None: ...
    def set_to_cylinder(self, timeconst: Real, bias: Real, area: Real, diameter: Real = ...) -> None: ...
    def set_to_damper(self, kv: Real) -> None: ...
    def set_to_dcmotor(self, motorconst: Numbers, resistance: Real, nominal: Numbers = ..., saturation: Numbers = ..., inductance: Numbers = ..., cogging: Numbers = ..., controller: Numbers = ..., thermal: Numbers = ..., lugre: Numbers = ..., ctrlspec: Integer = ...) -> None: ...
    def set_to_intvelocity(self, kp: Real, kv: Real = ..., dampratio: Real = ..., timeconst: Real = ..., inheritrange: bool = ...) -> None: ...
    def set_to_motor(self) -> None: ...
    def set_to_muscle(self, *, timeconst: Numbers = ..., tausmooth: Real, range: Numbers = ..., force: Real = ..., scale: Real = ..., lmin: Real = ..., lmax: Real = ..., vmax: Real = ..., fpmax: Real = ..., fvmax: Real = ...) -> None: ...
    def set_to_orientation(self, kp: Real, kv: Real = ..., dampratio: Real = ..., ctrlspec: Integer = ...) -> None: ...
    def set_to_pid(self, kp: Real, kv: Real = ..., dampratio: Real = ..., ki: Real = ..., imax: Real = ..., slewmax: Real = ..., inheritrange: Real = ..., ctrlspec: Integer = ...) -> None: ...
    def set_to_position(self, kp: Real, kv: Real = ..., dampratio: Real = ..., timeconst: Real = ..., inheritrange: bool = ...) -> None: ...
    def set_to_velocity(self, kv: Real) -> None: ...
    @property
    def signature(self) -> int: ...
    slidersite: str
    target: str
    trntype: Field[_enums.mjtTrn, Integer]
    type: Field[_enums.mjtActuator, Integer]
    userdata: Field[MjDoubleVec, Any]
    velrange: Field[NDArray[np.float64], ArrayLike]

class MjsAuthored:
    disableactuator: Field[int, Integer]
    disableflags: Field[int, Integer]
    enableflags: Field[int, Integer]
    option: Field[int, Integer]
    visual_global: Field[int, Integer]
    visual_headlight: Field[int, Integer]
    visual_map: Field[int, Integer]
    visual_quality: Field[int, Integer]
    visual_rgba: Field[int, Integer]
    visual_scale: Field[int, Integer]

class MjsBody:
    def add_body(self, default: MjsDefault | None = ..., name: str | None = ..., childclass: str | None = ..., pos: Numbers | None = ..., quat: Numbers | None = ..., axisangle: Numbers | None = ..., xyaxes: Numbers | None = ..., zaxis: Numbers | None = ..., euler: Numbers | None = ..., mass: Real | None = ..., ipos: Numbers | None = ..., iquat: Numbers | None = ..., inertia: Numbers | None = ..., iaxisangle: Numbers | None = ..., ixyaxes: Numbers | None = ..., izaxis: Numbers | None = ..., ieuler: Numbers | None = ..., fullinertia: Numbers | None = ..., mocap: Integer | None = ..., gravcomp: Real | None = ..., sleep: Integer | None = ..., simple: Integer | None = ..., fuse: Integer | None = ..., userdata: Numbers | None = ..., explicitinertial: Integer | None = ..., plugin: MjsPlugin | None = ..., info: str | None = ...) -> MjsBody: ...
    def add_camera(self, default: MjsDefault | None = ..., name: str | None = ..., pos: Numbers | None = ..., quat: Numbers | None = ..., axisangle: Numbers | None = ..., xyaxes: Numbers | None = ..., zaxis: Numbers | None = ..., euler: Numbers | None = ..., mode: Integer | None = ..., targetbody: str | None = ..., proj: Integer | None = ..., resolution: Numbers | None = ..., output: Integer | None = ..., fovy: Real | None = ..., ipd: Real | None = ..., intrinsic: Numbers | None = ..., sensor_size: Numbers | None = ..., focal_length: Numbers | None = ..., focal_pixel: Numbers | None = ..., principal_length: Numbers | None = ..., principal_pixel: Numbers | None = ..., userdata: Numbers | None = ..., info: str | None = ...) -> MjsCamera: ...
    def add_frame(self, default: MjsFrame | None = ..., name: str | None = ..., childclass: str | None = ..., pos: Numbers | None = ..., quat: Numbers | None = ..., axisangle: Numbers | None = ..., xyaxes: Numbers | None = ..., zaxis: Numbers | None = ..., euler: Numbers | None = ..., scale: object | None = ..., scaling: Integer | None = ..., massscale: Real | None = ..., info: str | None = ...) -> MjsFrame: ...
    def add_freejoint(self, **kwargs: Any) -> MjsJoint: ...
    def add_geom(self, default: MjsDefault | None = ..., name: str | None = ..., type: Integer | None = ..., pos: Numbers | None = ..., quat: Numbers | None = ..., axisangle: Numbers | None = ..., xyaxes: Numbers | None = ..., zaxis: Numbers | None = ..., euler: Numbers | None = ..., fromto: Numbers | None = ..., size: object | None = ..., contype: Integer | None = ..., conaffinity: Integer | None = ..., condim: Integer | None = ..., priority: Integer | None = ..., friction: Numbers | None = ..., solmix: Real | None = ..., solref: Numbers | None = ..., solimp: Numbers | None = ..., margin: Real | None = ..., gap: Real | None = ..., surfacevel: Numbers | None = ..., adhesion: Real | None = ..., mass: Real | None = ..., density: Real | None = ..., typeinertia: Integer | None = ..., fluid_ellipsoid: Integer | None = ..., fluid_coefs: Numbers | None = ..., material: str | None = ..., rgba: Numbers | None = ..., group: Integer | None = ..., castshadow: Integer | None = ..., hfieldname: str | None = ..., meshname: str | None = ..., fitscale: Real | None = ..., userdata: Numbers | None = ..., plugin: MjsPlugin | None = ..., info: str | None = ...) -> MjsGeom: ...
    def add_joint(self, default: MjsDefault | None = ..., name: str | None = ..., type: Integer | None = ..., pos: Numbers | None = ..., axis: Numbers | None = ..., ref: Real | None = ..., align: Integer | None = ..., stiffness: object | None = ..., springref: Real | None = ..., springyield: Real | None = ..., springdamper: Numbers | None = ..., limited: Integer | None = ..., range: Numbers | None = ..., margin: Real | None = ..., solref_limit: Numbers | None = ..., solimp_limit: Numbers | None = ..., actfrclimited: Integer | None = ..., actfrcrange: Numbers | None = ..., armature: Real | None = ..., damping: object | None = ..., frictionloss: Real | None = ..., solref_friction: Numbers | None = ..., solimp_friction: Numbers | None = ..., group: Integer | None = ..., actgravcomp: Integer | None = ..., userdata: Numbers | None = ..., info: str | None = ...) -> MjsJoint: ...
    def add_light(self, default: MjsDefault | None = ..., name: str | None = ..., pos: Numbers | None = ..., dir: Numbers | None = ..., mode: Integer | None = ..., targetbody: str | None = ..., active: Integer | None = ..., type: Integer | None = ..., texture: str | None = ..., castshadow: Integer | None = ..., bulbradius: Real | None = ..., intensity: Real | None = ..., range: Real | None = ..., attenuation: Numbers | None = ..., cutoff: Real | None = ..., softness: Real | None = ..., exponent: Real | None = ..., ambient: Numbers | None = ..., diffuse: Numbers | None = ..., specular: Numbers | None = ..., info: str | None = ...) -> MjsLight: ...
    def add_site(self, default: MjsDefault | None = ..., name: str | None = ..., pos: Numbers | None = ..., quat: Numbers | None = ..., axisangle: Numbers | None = ..., xyaxes: Numbers | None = ..., zaxis: Numbers | None = ..., euler: Numbers | None = ..., fromto: Numbers | None = ..., size: object | None = ..., type: Integer | None = ..., material: str | None = ..., group: Integer | None = ..., rgba: Numbers | None = ..., meshname: str | None = ..., userdata: Numbers | None = ..., info: str | None = ...) -> MjsSite: ...
    alt: MjsOrientation
    def attach_frame(self, frame: MjsFrame, prefix: str | None = ..., suffix: str | None = ...) -> MjsFrame: ...
    @property
    def bodies(self) -> list[MjsBody]: ...
    @property
    def cameras(self) -> list[MjsCamera]: ...
    childclass: str
    classname: MjsDefault
    @property
    def compiler(self) -> MjsCompiler: ...
    explicitinertial: bool
    @overload
    def find_all(self, arg0: _enums.mjtObj) -> list[Any]: ...
    @overload
    def find_all(self, arg0: str) -> list[Any]: ...
    def find_child(self, arg0: str) -> MjsBody | None: ...
    def first_body(self) -> MjsBody | None: ...
    def first_camera(self) -> MjsCamera | None: ...
    def first_frame(self) -> MjsFrame | None: ...
    def first_geom(self) -> MjsGeom | None: ...
    def first_joint(self) -> MjsJoint | None: ...
    def first_light(self) -> MjsLight | None: ...
    def first_site(self) -> MjsSite | None: ...
    @property
    def frame(self) -> MjsFrame: ...
    @property
    def frames(self) -> list[MjsFrame]: ...
    fullinertia: Field[NDArray[np.float64], ArrayLike]
    fuse: Field[int, Integer]
    @property
    def geoms(self) -> list[MjsGeom]: ...
    gravcomp: Field[float, Real]
    ialt: MjsOrientation
    @property
    def id(self) -> int: ...
    inertia: Field[NDArray[np.float64], ArrayLike]
    info: str
    ipos: Field[NDArray[np.float64], ArrayLike]
    iquat: Field[NDArray[np.float64], ArrayLike]
    @property
    def joints(self) -> list[MjsJoint]: ...
    @property
    def lights(self) -> list[MjsLight]: ...
    def make_flex(self, name: str, type: str | None = ..., dim: Integer = ..., dof: str | None = ..., count: Numbers | None = ..., cellcount: Numbers | None = ..., spacing: Numbers | None = ..., scale: Numbers | None = ..., radius: Real = ..., mass: Real = ..., inertiabox: Real = ..., equality: Integer = ..., rigid: Integer = ..., flatskin: Integer = ..., elastic2d: Integer = ..., pos: Numbers | None = ..., quat: Numbers | None = ..., origin: Numbers | None = ..., file: str | None = ..., mesh: str | None = ..., vfs: MjVfs | None = ...) -> MjsFlex: ...
    mass: Field[float, Real]
    mocap: bool
    name: str
    def next_body(self, arg0: MjsBody) -> MjsBody: ...
    def next_camera(self, arg0: MjsCamera) -> MjsCamera: ...
    def next_frame(self, arg0: MjsFrame) -> MjsFrame: ...
    def next_geom(self, arg0: MjsGeom) -> MjsGeom: ...
    def next_joint(self, arg0: MjsJoint) -> MjsJoint: ...
    def next_light(self, arg0: MjsLight) -> MjsLight: ...
    def next_site(self, arg0: MjsSite) -> MjsSite: ...
    @property
    def parent(self) -> MjsBody: ...
    plugin: MjsPlugin
    pos: Field[NDArray[np.float64], ArrayLike]
    quat: Field[NDArray[np.float64], ArrayLike]
    def set_frame(self, arg0: MjsFrame) -> None: ...
    @property
    def signature(self) -> int: ...
    simple: Field[int, Integer]
    @property
    def sites(self) -> list[MjsSite]: ...
    sleep: Field[_enums.mjtSleepPolicy, Integer]
    def to_frame(self) -> MjsFrame: ...
    userdata: Field[MjDoubleVec, Any]

class MjsCamera:
    alt: MjsOrientation
    classname: MjsDefault
    @property
    def compiler(self) -> MjsCompiler: ...
    focal_length: Field[NDArray[np.float32], ArrayLike]
    focal_pixel: Field[NDArray[np.float32], ArrayLike]
    fovy: Field[float, Real]
    @property
    def frame(self) -> MjsFrame: ...
    @property
    def id(self) -> int: ...
    info: str
    intrinsic: Field[NDArray[np.float32], ArrayLike]
    ipd: Field[float, Real]
    mode: Field[_enums.mjtCamLight, Integer]
    name: str
    output: Field[int, Integer]
    @property
    def parent(self) -> MjsBody: ...
    pos: Field[NDArray[np.float64], ArrayLike]
    principal_length: Field[NDArray[np.float32], ArrayLike]
    principal_pixel: Field[NDArray[np.float32], ArrayLike]
    proj: Field[_enums.mjtProjection, Integer]
    quat: Field[NDArray[np.float64], ArrayLike]
    resolution: Field[NDArray[np.int32], ArrayLike]
    sensor_size: Field[NDArray[np.float32], ArrayLike]
    def set_frame(self, arg0: MjsFrame) -> None: ...
    @property
    def signature(self) -> int: ...
    targetbody: str
    userdata: Field[MjDoubleVec, Any]

class MjsCompiler:
    LRopt: _structs.MjLROpt
    alignfree: bool
    authored: Field[int, Integer]
    autolimits: bool
    balanceinertia: bool
    boundinertia: Field[float, Real]
    boundmass: Field[float, Real]
    conflict: Field[_enums.mjtConflict, Integer]
    degree: bool
    discardvisual: bool
    eulerseq: Field[MjCharVec, Any]
    fitaabb: bool
    fusestatic: bool
    inertiafromgeom: Field[_enums.mjtInertiaFromGeom, Integer]
    inertiagrouprange: Field[NDArray[np.int32], ArrayLike]
    meshdir: str
    passthrough: Field[_enums.mjtPassthrough, Integer]
    savecanonical: bool
    savecompiled: bool
    saveinertial: bool
    settotalmass: Field[float, Real]
    texturedir: str
    usethread: bool

class MjsDefault:
    actuator: MjsActuator
    camera: MjsCamera
    equality: MjsEquality
    flex: MjsFlex
    geom: MjsGeom
    joint: MjsJoint
    light: MjsLight
    material: MjsMaterial
    mesh: MjsMesh
    name: str
    pair: MjsPair
    site: MjsSite
    tendon: MjsTendon
    texture: MjsTexture

class MjsElement:
    ...

class MjsEquality:
    active: bool
    classname: MjsDefault
    @property
    def compiler(self) -> MjsCompiler: ...
    data: Field[NDArray[np.float64], ArrayLike]
    @property
    def id(self) -> int: ...
    info: str
    name: str
    name1: str
    name2: str
    objtype: Field[_enums.mjtObj, Integer]
    @property
    def signature(self) -> int: ...
    solimp: Field[NDArray[np.float64], ArrayLike]
    solref: Field[NDArray[np.float64], ArrayLike]
    type: Field[_enums.mjtEq, Integer]

class MjsExclude:
    bodyname1: str
    bodyname2: str
    @property
    def compiler(self) -> MjsCompiler: ...
    @property
    def id(self) -> int: ...
    info: str
    name: str
    @property
    def signature(self) -> int: ...

class MjsFlex:
    activelayers: Field[int, Integer]
    cellcount: Field[NDArray[np.int32], ArrayLike]
    @property
    def compiler(self) -> MjsCompiler: ...
    conaffinity: Field[int, Integer]
    condim: Field[int, Integer]
    contype: Field[int, Integer]
    damping: Field[float, Real]
    dim: Field[int, Integer]
    edgedamping: Field[float, Real]
    edgestiffness: Field[float, Real]
    elastic2d: Field[int, Integer]
    elastic3d: Field[int, Integer]
    elem: Field[MjIntVec, Any]
    elemtexcoord: Field[MjIntVec, Any]
    flatskin: bool
    friction: Field[NDArray[np.float64], ArrayLike]
    gap: Field[float, Real]
    group: Field[int, Integer]
    @property
    def id(self) -> int: ...
    info: str
    margin: Field[float, Real]
    material: Field[MjStringVec, Any]
    name: str
    node: Field[MjDoubleVec, Any]
    nodebody: Field[MjStringVec, Any]
    order: Field[int, Integer]
    passive: Field[int, Integer]
    poisson: Field[float, Real]
    priority: Field[int, Integer]
    radius: Field[float, Real]
    rgba: Field[NDArray[np.float32], ArrayLike]
    section: Field[_enums.mjtFlexSection, Integer]
    sectionsize: Field[NDArray[np.float64], ArrayLike]
    selfcollide: Field[_enums.mjtFlexSelf, Integer]
    shear: Field[float, Real]
    @property
    def signature(self) -> int: ...
    size: Field[NDArray[np.float64], ArrayLike]
    solimp: Field[NDArray[np.float64], ArrayLike]
    solmix: Field[float, Real]
    solref: Field[NDArray[np.float64], ArrayLike]
    stressyield: Field[NDArray[np.float64], ArrayLike]
    texcoord: Field[MjFloatVec, Any]
    thickness: Field[float, Real]
    vert: Field[MjDoubleVec, Any]
    vertbody: Field[MjStringVec, Any]
    young: Field[float, Real]

class MjsFrame:
    def add_body(self, default: MjsDefault | None = ..., name: str | None = ..., childclass: str | None = ..., pos: Numbers | None = ..., quat: Numbers | None = ..., axisangle: Numbers | None = ..., xyaxes: Numbers | None = ..., zaxis: Numbers | None = ..., euler: Numbers | None = ..., mass: Real | None = ..., ipos: Numbers | None = ..., iquat: Numbers | None = ..., inertia: Numbers | None = ..., iaxisangle: Numbers | None = ..., ixyaxes: Numbers | None = ..., izaxis: Numbers | None = ..., ieuler: Numbers | None = ..., fullinertia: Numbers | None = ..., mocap: Integer | None = ..., gravcomp: Real | None = ..., sleep: Integer | None = ..., simple: Integer | None = ..., fuse: Integer | None = ..., userdata: Numbers | None = ..., explicitinertial: Integer | None = ..., plugin: MjsPlugin | None = ..., info: str | None = ...) -> MjsBody: ...
    def add_camera(self, default: MjsDefault | None = ..., name: str | None = ..., pos: Numbers | None = ..., quat: Numbers | None = ..., axisangle: Numbers | None = ..., xyaxes: Numbers | None = ..., zaxis: Numbers | None = ..., euler: Numbers | None = ..., mode: Integer | None = ..., targetbody: str | None = ..., proj: Integer | None = ..., resolution: Numbers | None = ..., output: Integer | None = ..., fovy: Real | None = ..., ipd: Real | None = ..., intrinsic: Numbers | None = ..., sensor_size: Numbers | None = ..., focal_length: Numbers | None = ..., focal_pixel: Numbers | None = ..., principal_length: Numbers | None = ..., principal_pixel: Numbers | None = ..., userdata: Numbers | None = ..., info: str | None = ...) -> MjsCamera: ...
    def add_frame(self, default: MjsFrame | None = ..., name: str | None = ..., childclass: str | None = ..., pos: Numbers | None = ..., quat: Numbers | None = ..., axisangle: Numbers | None = ..., xyaxes: Numbers | None = ..., zaxis: Numbers | None = ..., euler: Numbers | None = ..., scale: object | None = ..., scaling: Integer | None = ..., massscale: Real | None = ..., info: str | None = ...) -> MjsFrame: ...
    def add_geom(self, default: MjsDefault | None = ..., name: str | None = ..., type: Integer | None = ..., pos: Numbers | None = ..., quat: Numbers | None = ..., axisangle: Numbers | None = ..., xyaxes: Numbers | None = ..., zaxis: Numbers | None = ..., euler: Numbers | None = ..., fromto: Numbers | None = ..., size: object | None = ..., contype: Integer | None = ..., conaffinity: Integer | None = ..., condim: Integer | None = ..., priority: Integer | None = ..., friction: Numbers | None = ..., solmix: Real | None = ..., solref: Numbers | None = ..., solimp: Numbers | None = ..., margin: Real | None = ..., gap: Real | None = ..., surfacevel: Numbers | None = ..., adhesion: Real | None = ..., mass: Real | None = ..., density: Real | None = ..., typeinertia: Integer | None = ..., fluid_ellipsoid: Integer | None = ..., fluid_coefs: Numbers | None = ..., material: str | None = ..., rgba: Numbers | None = ..., group: Integer | None = ..., castshadow: Integer | None = ..., hfieldname: str | None = ..., meshname: str | None = ..., fitscale: Real | None = ..., userdata: Numbers | None = ..., plugin: MjsPlugin | None = ..., info: str | None = ...) -> MjsGeom: ...
    def add_joint(self, default: MjsDefault | None = ..., name: str | None = ..., type: Integer | None = ..., pos: Numbers | None = ..., axis: Numbers | None = ..., ref: Real | None = ..., align: Integer | None = ..., stiffness: object | None = ..., springref: Real | None = ..., springyield: Real | None = ..., springdamper: Numbers | None = ..., limited: Integer | None = ..., range: Numbers | None = ..., margin: Real | None = ..., solref_limit: Numbers | None = ..., solimp_limit: Numbers | None = ..., actfrclimited: Integer | None = ..., actfrcrange: Numbers | None = ..., armature: Real | None = ..., damping: object | None = ..., frictionloss: Real | None = ..., solref_friction: Numbers | None = ..., solimp_friction: Numbers | None = ..., group: Integer | None = ..., actgravcomp: Integer | None = ..., userdata: Numbers | None = ..., info: str | None = ...) -> MjsJoint: ...
    def add_light(self, default: MjsDefault | None = ..., name: str | None = ..., pos: Numbers | None = ..., dir: Numbers | None = ..., mode: Integer | None = ..., targetbody: str | None = ..., active: Integer | None = ..., type: Integer | None = ..., texture: str | None = ..., castshadow: Integer | None = ..., bulbradius: Real | None = ..., intensity: Real | None = ..., range: Real | None = ..., attenuation: Numbers | None = ..., cutoff: Real | None = ..., softness: Real | None = ..., exponent: Real | None = ..., ambient: Numbers | None = ..., diffuse: Numbers | None = ..., specular: Numbers | None = ..., info: str | None = ...) -> MjsLight: ...
    def add_site(self, default: MjsDefault | None = ..., name: str | None = ..., pos: Numbers | None = ..., quat: Numbers | None = ..., axisangle: Numbers | None = ..., xyaxes: Numbers | None = ..., zaxis: Numbers | None = ..., euler: Numbers | None = ..., fromto: Numbers | None = ..., size: object | None = ..., type: Integer | None = ..., material: str | None = ..., group: Integer | None = ..., rgba: Numbers | None = ..., meshname: str | None = ..., userdata: Numbers | None = ..., info: str | None = ...) -> MjsSite: ...
    alt: MjsOrientation
    def attach_body(self, body: MjsBody, prefix: str | None = ..., suffix: str | None = ...) -> MjsBody: ...
    childclass: str
    @property
    def compiler(self) -> MjsCompiler: ...
    @property
    def frame(self) -> MjsFrame: ...
    @property
    def id(self) -> int: ...
    info: str
    massscale: Field[float, Real]
    name: str
    @property
    def parent(self) -> MjsBody: ...
    pos: Field[NDArray[np.float64], ArrayLike]
    quat: Field[NDArray[np.float64], ArrayLike]
    scale: Field[NDArray[np.float64], ArrayLike]
    scaling: Field[_enums.mjtScaling, Integer]
    def set_frame(self, arg0: MjsFrame) -> None: ...
    @property
    def signature(self) -> int: ...

class MjsGeom:
    adhesion: Field[float, Real]
    alt: MjsOrientation
    castshadow: bool
    classname: MjsDefault
    @property
    def compiler(self) -> MjsCompiler: ...
    conaffinity: Field[int, Integer]
    condim: Field[int, Integer]
    contype: Field[int, Integer]
    density: Field[float, Real]
    fitscale: Field[float, Real]
    fluid_coefs: Field[NDArray[np.float64], ArrayLike]
    fluid_ellipsoid: Field[float, Real]
    @property
    def frame(self) -> MjsFrame: ...
    friction: Field[NDArray[np.float64], ArrayLike]
    fromto: Field[NDArray[np.float64], ArrayLike]
    gap: Field[float, Real]
    group: Field[int, Integer]
    hfieldname: str
    @property
    def id(self) -> int: ...
    info: str
    margin: Field[float, Real]
    mass: Field[float, Real]
    material: str
    meshname: str
    name: str
    @property
    def parent(self) -> MjsBody: ...
    plugin: MjsPlugin
    pos: Field[NDArray[np.float64], ArrayLike]
    priority: Field[int, Integer]
    quat: Field[NDArray[np.float64], ArrayLike]
    rgba: Field[NDArray[np.float32], ArrayLike]
    def set_frame(self, arg0: MjsFrame) -> None: ...
    @property
    def signature(self) -> int: ...
    size: Field[NDArray[np.float64], ArrayLike]
    solimp: Field[NDArray[np.float64], ArrayLike]
    solmix: Field[float, Real]
    solref: Field[NDArray[np.float64], ArrayLike]
    surfacevel: Field[NDArray[np.float64], ArrayLike]
    type: Field[_enums.mjtGeom, Integer]
    typeinertia: Field[_enums.mjtGeomInertia, Integer]
    userdata: Field[MjDoubleVec, Any]

class MjsHField:
    @property
    def compiler(self) -> MjsCompiler: ...
    content_type: str
    file: str
    @property
    def id(self) -> int: ...
    info: str
    name: str
    ncol: Field[int, Integer]
    nrow: Field[int, Integer]
    @property
    def signature(self) -> int: ...
    size: Field[NDArray[np.float64], ArrayLike]
    userdata: Field[MjFloatVec, Any]

class MjsJoint:
    actfrclimited: Field[_enums.mjtLimited, Integer]
    actfrcrange: Field[NDArray[np.float64], ArrayLike]
    actgravcomp: bool
    align: Field[_enums.mjtAlignFree, Integer]
    armature: Field[float, Real]
    axis: Field[NDArray[np.float64], ArrayLike]
    classname: MjsDefault
    @property
    def compiler(self) -> MjsCompiler: ...
    damping: Field[NDArray[np.float64], ArrayLike]
    @property
    def frame(self) -> MjsFrame: ...
    frictionloss: Field[float, Real]
    group: Field[int, Integer]
    @property
    def id(self) -> int: ...
    info: str
    limited: Field[_enums.mjtLimited, Integer]
    margin: Field[float, Real]
    name: str
    @property
    def parent(self) -> MjsBody: ...
    pos: Field[NDArray[np.float64], ArrayLike]
    range: Field[NDArray[np.float64], ArrayLike]
    ref: Field[float, Real]
    def set_frame(self, arg0: MjsFrame) -> None: ...
    @property
    def signature(self) -> int: ...
    solimp_friction: Field[NDArray[np.float64], ArrayLike]
    solimp_limit: Field[NDArray[np.float64], ArrayLike]
    solref_friction: Field[NDArray[np.float64], ArrayLike]
    solref_limit: Field[NDArray[np.float64], ArrayLike]
    springdamper: Field[NDArray[np.float64], ArrayLike]
    springref: Field[float, Real]
    springyield: Field[float, Real]
    stiffness: Field[NDArray[np.float64], ArrayLike]
    type: Field[_enums.mjtJoint, Integer]
    userdata: Field[MjDoubleVec, Any]

class MjsKey:
    act: Field[MjDoubleVec, Any]
    @property
    def compiler(self) -> MjsCompiler: ...
    ctrl: Field[MjDoubleVec, Any]
    @property
    def id(self) -> int: ...
    info: str
    mpos: Field[MjDoubleVec, Any]
    mquat: Field[MjDoubleVec, Any]
    name: str
    plastic: Field[MjDoubleVec, Any]
    qpos: Field[MjDoubleVec, Any]
    qvel: Field[MjDoubleVec, Any]
    @property
    def signature(self) -> int: ...
    time: Field[float, Real]

class MjsLight:
    active: bool
    ambient: Field[NDArray[np.float32], ArrayLike]
    attenuation: Field[NDArray[np.float32], ArrayLike]
    bulbradius: Field[float, Real]
    castshadow: bool
    classname: MjsDefault
    @property
    def compiler(self) -> MjsCompiler: ...
    cutoff: Field[float, Real]
    diffuse: Field[NDArray[np.float32], ArrayLike]
    dir: Field[NDArray[np.float64], ArrayLike]
    exponent: Field[float, Real]
    @property
    def frame(self) -> MjsFrame: ...
    @property
    def id(self) -> int: ...
    info: str
    intensity: Field[float, Real]
    mode: Field[_enums.mjtCamLight, Integer]
    name: str
    @property
    def parent(self) -> MjsBody: ...
    pos: Field[NDArray[np.float64], ArrayLike]
    range: Field[float, Real]
    def set_frame(self, arg0: MjsFrame) -> None: ...
    @property
    def signature(self) -> int: ...
    softness: Field[float, Real]
    specular: Field[NDArray[np.float32], ArrayLike]
    targetbody: str
    texture: str
    type: Field[_enums.mjtLightType, Integer]

class MjsMaterial:
    classname: MjsDefault
    @property
    def compiler(self) -> MjsCompiler: ...
    emission: Field[float, Real]
    @property
    def id(self) -> int: ...
    info: str
    metallic: Field[float, Real]
    name: str
    reflectance: Field[float, Real]
    rgba: Field[NDArray[np.float32], ArrayLike]
    roughness: Field[float, Real]
    shininess: Field[float, Real]
    @property
    def signature(self) -> int: ...
    specular: Field[float, Real]
    texrepeat: Field[NDArray[np.float32], ArrayLike]
    textures: Field[MjStringVec, Any]
    texuniform: bool

class MjsMesh:
    classname: MjsDefault
    @property
    def compiler(self) -> MjsCompiler: ...
    content_type: str
    file: str
    @property
    def id(self) -> int: ...
    inertia: Field[_enums.mjtMeshInertia, Integer]
    info: str
    def make_box(self, count: Numbers, spacing: Numbers, dim: Integer = ...) -> None: ...
    def make_cone(self, nedge: Integer, radius: Real) -> None: ...
    def make_cylinder(self, count: Numbers, spacing: Numbers, dim: Integer = ...) -> None: ...
    def make_disc(self, count: Numbers, spacing: Numbers) -> None: ...
    def make_ellipsoid(self, count: Numbers, spacing: Numbers, dim: Integer = ...) -> None: ...
    def make_grid(self, count: Numbers, spacing: Numbers, dim: Integer = ...) -> None: ...
    def make_hemisphere(self, resolution: Integer) -> None: ...
    def make_plate(self, resolution: Numbers = ...) -> None: ...
    def make_sphere(self, subdivision: Integer) -> None: ...
    def make_square(self, count: Numbers, spacing: Numbers) -> None: ...
    def make_supersphere(self, resolution: Integer, e: Real, n: Real) -> None: ...
    def make_supertorus(self, resolution: Integer, radius: Real, s: Real, t: Real) -> None: ...
    def make_wedge(self, resolution: Numbers = ..., fov: Numbers = ..., gamma: Real = ...) -> None: ...
    material: str
    maxhullvert: Field[int, Integer]
    name: str
    needsdf: bool
    octree_maxdepth: Field[int, Integer]
    plugin: MjsPlugin
    refpos: Field[NDArray[np.float64], ArrayLike]
    refquat: Field[NDArray[np.float64], ArrayLike]
    scale: Field[NDArray[np.float64], ArrayLike]
    @property
    def signature(self) -> int: ...
    smoothnormal: bool
    userface: Field[MjIntVec, Any]
    userfacenormal: Field[MjIntVec, Any]
    userfacetexcoord: Field[MjIntVec, Any]
    usernode: Field[MjDoubleVec, Any]
    usernormal: Field[MjFloatVec, Any]
    usertet: Field[MjIntVec, Any]
    usertexcoord: Field[MjFloatVec, Any]
    uservert: Field[MjFloatVec, Any]

class MjsNumeric:
    @property
    def compiler(self) -> MjsCompiler: ...
    data: Field[MjDoubleVec, Any]
    @property
    def id(self) -> int: ...
    info: str
    name: str
    @property
    def signature(self) -> int: ...
    size: Field[int, Integer]

class MjsOrientation:
    axisangle: Field[NDArray[np.float64], ArrayLike]
    euler: Field[NDArray[np.float64], ArrayLike]
    type: Field[_enums.mjtOrientation, Integer]
    xyaxes: Field[NDArray[np.float64], ArrayLike]
    zaxis: Field[NDArray[np.float64], ArrayLike]

class MjsPair:
    adhesion: Field[float, Real]
    classname: MjsDefault
    @property
    def compiler(self) -> MjsCompiler: ...
    condim: Field[int, Integer]
    friction: Field[NDArray[np.float64], ArrayLike]
    gap: Field[float, Real]
    geomname1: str
    geomname2: str
    @property
    def id(self) -> int: ...
    info: str
    margin: Field[float, Real]
    name: str
    @property
    def signature(self) -> int: ...
    solimp: Field[NDArray[np.float64], ArrayLike]
    solref: Field[NDArray[np.float64], ArrayLike]
    solreffriction: Field[NDArray[np.float64], ArrayLike]

class MjsPlugin:
    active: bool
    @property
    def compiler(self) -> MjsCompiler: ...
    config: dict[Any, Any]
    id: Field[int, MjsPlugin]
    info: str
    name: str
    plugin_name: str
    @property
    def signature(self) -> int: ...

class MjsSensor:
    @property
    def compiler(self) -> MjsCompiler: ...
    cutoff: Field[float, Real]
    datatype: Field[_enums.mjtDataType, Integer]
    delay: Field[float, Real]
    dim: Field[int, Integer]
    def get_data_size(self) -> int: ...
    @property
    def id(self) -> int: ...
    info: str
    interp: Field[int, Integer]
    interval: Field[NDArray[np.float64], ArrayLike]
    intprm: Field[NDArray[np.int32], ArrayLike]
    name: str
    needstage: Field[_enums.mjtStage, Integer]
    noise: Field[float, Real]
    nsample: Field[int, Integer]
    objname: str
    objtype: Field[_enums.mjtObj, Integer]
    plugin: MjsPlugin
    refname: str
    reftype: Field[_enums.mjtObj, Integer]
    @property
    def signature(self) -> int: ...
    type: Field[_enums.mjtSensor, Integer]
    userdata: Field[MjDoubleVec, Any]

class MjsSite:
    alt: MjsOrientation
    def attach_body(self, body: MjsBody, prefix: str | None = ..., suffix: str | None = ...) -> MjsBody: ...
    classname: MjsDefault
    @property
    def compiler(self) -> MjsCompiler: ...
    @property
    def frame(self) -> MjsFrame: ...
    fromto: Field[NDArray[np.float64], ArrayLike]
    group: Field[int, Integer]
    @property
    def id(self) -> int: ...
    info: str
    material: str
    meshname: str
    name: str
    @property
    def parent(self) -> MjsBody: ...
    pos: Field[NDArray[np.float64], ArrayLike]
    quat: Field[NDArray[np.float64], ArrayLike]
    rgba: Field[NDArray[np.float32], ArrayLike]
    def set_frame(self, arg0: MjsFrame) -> None: ...
    @property
    def signature(self) -> int: ...
    size: Field[NDArray[np.float64], ArrayLike]
    type: Field[_enums.mjtGeom, Integer]
    userdata: Field[MjDoubleVec, Any]

class MjsSkin:
    bindpos: Field[MjFloatVec, Any]
    bindquat: Field[MjFloatVec, Any]
    bodyname: Field[MjStringVec, Any]
    @property
    def compiler(self) -> MjsCompiler: ...
    face: Field[MjIntVec, Any]
    file: str
    group: Field[int, Integer]
    @property
    def id(self) -> int: ...
    inflate: Field[float, Real]
    info: str
    material: str
    name: str
    rgba: Field[NDArray[np.float32], ArrayLike]
    @property
    def signature(self) -> int: ...
    texcoord: Field[MjFloatVec, Any]
    vert: Field[MjFloatVec, Any]
    vertid: Field[list[Any], Any]
    vertweight: Field[list[Any], Any]

class MjsTendon:
    actfrclimited: Field[_enums.mjtLimited, Integer]
    actfrcrange: Field[NDArray[np.float64], ArrayLike]
    armature: Field[float, Real]
    @property
    def compiler(self) -> MjsCompiler: ...
    damping: Field[NDArray[np.float64], ArrayLike]
    def default(self) -> MjsDefault: ...
    frictionloss: Field[float, Real]
    group: Field[int, Integer]
    @property
    def id(self) -> int: ...
    info: str
    limited: Field[_enums.mjtLimited, Integer]
    margin: Field[float, Real]
    material: str
    name: str
    @property
    def path(self) -> MjsTendonPath: ...
    range: Field[NDArray[np.float64], ArrayLike]
    rgba: Field[NDArray[np.float32], ArrayLike]
    @property
    def signature(self) -> int: ...
    solimp_friction: Field[NDArray[np.float64], ArrayLike]
    solimp_limit: Field[NDArray[np.float64], ArrayLike]
    solref_friction: Field[NDArray[np.float64], ArrayLike]
    solref_limit: Field[NDArray[np.float64], ArrayLike]
    springlength: Field[NDArray[np.float64], ArrayLike]
    springyield: Field[float, Real]
    stiffness: Field[NDArray[np.float64], ArrayLike]
    userdata: Field[MjDoubleVec, Any]
    width: Field[float, Real]
    def wrap_geom(self, arg0: str, arg1: str) -> MjsWrap: ...
    def wrap_joint(self, arg0: str, arg1: Real) -> MjsWrap: ...
    def wrap_pulley(self, arg0: Real) -> MjsWrap: ...
    def wrap_site(self, arg0: str) -> MjsWrap: ...

class MjsTendonPath:
    def __getitem__(self, arg0: Integer) -> MjsWrap: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[MjsWrap]: ...

class MjsText:
    @property
    def compiler(self) -> MjsCompiler: ...
    data: str
    @property
    def id(self) -> int: ...
    info: str
    name: str
    @property
    def signature(self) -> int: ...

class MjsTexture:
    builtin: Field[_enums.mjtBuiltin, Integer]
    classname: MjsDefault
    colorspace: Field[_enums.mjtColorSpace, Integer]
    @property
    def compiler(self) -> MjsCompiler: ...
    content_type: str
    cubefiles: Field[MjStringVec, Any]
    data: bytes
    embed: Field[_enums.mjtEmbed, Integer]
    file: str
    gridlayout: Field[MjCharVec, Any]
    gridsize: Field[NDArray[np.int32], ArrayLike]
    height: Field[int, Integer]
    hflip: bool
    @property
    def id(self) -> int: ...
    info: str
    mark: Field[_enums.mjtMark, Integer]
    markrgb: Field[NDArray[np.float64], ArrayLike]
    name: str
    nchannel: Field[int, Integer]
    random: Field[float, Real]
    rgb1: Field[NDArray[np.float64], ArrayLike]
    rgb2: Field[NDArray[np.float64], ArrayLike]
    @property
    def signature(self) -> int: ...
    type: Field[_enums.mjtTexture, Integer]
    vflip: bool
    width: Field[int, Integer]

class MjsTuple:
    @property
    def compiler(self) -> MjsCompiler: ...
    @property
    def id(self) -> int: ...
    info: str
    name: str
    objname: Field[MjStringVec, Any]
    objprm: Field[MjDoubleVec, Any]
    objtype: Field[MjIntVec, Any]
    @property
    def signature(self) -> int: ...

class MjsWrap:
    @property
    def coef(self) -> object: ...
    @property
    def divisor(self) -> object: ...
    info: str
    @property
    def sidesite(self) -> MjsSite: ...
    @property
    def target(self) -> object: ...
    type: Field[_enums.mjtWrap, Integer]
