# Made by stubs/make_mujoco_stubs.py from MuJoCo 4.0.0.
# mypy: disable-error-code="misc, overload-overlap, overload-cannot-match, override"

import builtins
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, overload
import numpy as np
from numpy.typing import ArrayLike, NDArray
from mujoco._stub_types import Field, Integer, Real
from mujoco import _enums, _specs

class MjContact:
    H: Field[NDArray[np.float64], ArrayLike]
    def __copy__(self) -> MjContact: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjContact: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    adhesion: Field[float, Real]
    dim: Field[int, Integer]
    dist: Field[float, Real]
    efc_address: Field[int, Integer]
    elem: Field[NDArray[np.int32], ArrayLike]
    exclude: Field[int, Integer]
    flex: Field[NDArray[np.int32], ArrayLike]
    frame: Field[NDArray[np.float64], ArrayLike]
    friction: Field[NDArray[np.float64], ArrayLike]
    geom: Field[NDArray[np.int32], ArrayLike]
    geom1: Field[int, Integer]
    geom2: Field[int, Integer]
    includemargin: Field[float, Real]
    mu: Field[float, Real]
    pos: Field[NDArray[np.float64], ArrayLike]
    solimp: Field[NDArray[np.float64], ArrayLike]
    solref: Field[NDArray[np.float64], ArrayLike]
    solreffriction: Field[NDArray[np.float64], ArrayLike]
    surfacevel: Field[NDArray[np.float64], ArrayLike]
    vert: Field[NDArray[np.int32], ArrayLike]

class MjData:
    M: Field[NDArray[np.float64], ArrayLike]
    def __copy__(self) -> MjData: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjData: ...
    def __getstate__(self, /) -> bytes: ...
    def __init__(self, arg0: MjModel) -> None: ...
    def __setstate__(self, arg0: bytes) -> None: ...
    @property
    def _address(self) -> int: ...
    _all_fields: ClassVar[tuple[Any, ...]]
    act: Field[NDArray[np.float64], ArrayLike]
    act_dot: Field[NDArray[np.float64], ArrayLike]
    @overload
    def actuator(self, arg0: Integer) -> _MjDataActuatorViews: ...
    @overload
    def actuator(self, name: str = ...) -> _MjDataActuatorViews: ...
    actuator_force: Field[NDArray[np.float64], ArrayLike]
    actuator_length: Field[NDArray[np.float64], ArrayLike]
    actuator_moment: Field[NDArray[np.float64], ArrayLike]
    actuator_velocity: Field[NDArray[np.float64], ArrayLike]
    def bind(self, specs: Sequence[_specs.MjsBody | _specs.MjsFrame | _specs.MjsGeom | _specs.MjsJoint | _specs.MjsLight | _specs.MjsMaterial | _specs.MjsSite | _specs.MjsMesh | _specs.MjsSkin | _specs.MjsTexture | _specs.MjsText | _specs.MjsTuple | _specs.MjsCamera | _specs.MjsFlex | _specs.MjsHField | _specs.MjsKey | _specs.MjsNumeric | _specs.MjsPair | _specs.MjsExclude | _specs.MjsEquality | _specs.MjsTendon | _specs.MjsSensor | _specs.MjsActuator | _specs.MjsPlugin] | _specs.MjsBody | _specs.MjsFrame | _specs.MjsGeom | _specs.MjsJoint | _specs.MjsLight | _specs.MjsMaterial | _specs.MjsSite | _specs.MjsMesh | _specs.MjsSkin | _specs.MjsTexture | _specs.MjsText | _specs.MjsTuple | _specs.MjsCamera | _specs.MjsFlex | _specs.MjsHField | _specs.MjsKey | _specs.MjsNumeric | _specs.MjsPair | _specs.MjsExclude | _specs.MjsEquality | _specs.MjsTendon | _specs.MjsSensor | _specs.MjsActuator | _specs.MjsPlugin) -> Any: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsActuator | None = ...) -> _MjDataActuatorViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsBody | None = ...) -> _MjDataBodyViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsCamera | None = ...) -> _MjDataCameraViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsGeom | None = ...) -> _MjDataGeomViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsJoint | None = ...) -> _MjDataJointViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsLight | None = ...) -> _MjDataLightViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsSensor | None = ...) -> _MjDataSensorViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsSite | None = ...) -> _MjDataSiteViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsTendon | None = ...) -> _MjDataTendonViews: ...
    @overload
    def body(self, arg0: Integer) -> _MjDataBodyViews: ...
    @overload
    def body(self, name: str = ...) -> _MjDataBodyViews: ...
    body_awake: Field[NDArray[np.int32], ArrayLike]
    body_awake_ind: Field[NDArray[np.int32], ArrayLike]
    bvh_aabb_dyn: Field[NDArray[np.float64], ArrayLike]
    bvh_active: Field[NDArray[np.bool], ArrayLike]
    cacc: Field[NDArray[np.float64], ArrayLike]
    @overload
    def cam(self, arg0: Integer) -> _MjDataCameraViews: ...
    @overload
    def cam(self, name: str = ...) -> _MjDataCameraViews: ...
    cam_xmat: Field[NDArray[np.float64], ArrayLike]
    cam_xpos: Field[NDArray[np.float64], ArrayLike]
    @overload
    def camera(self, arg0: Integer) -> _MjDataCameraViews: ...
    @overload
    def camera(self, name: str = ...) -> _MjDataCameraViews: ...
    cdof: Field[NDArray[np.float64], ArrayLike]
    cdof_dot: Field[NDArray[np.float64], ArrayLike]
    cfrc_ext: Field[NDArray[np.float64], ArrayLike]
    cfrc_int: Field[NDArray[np.float64], ArrayLike]
    cinert: Field[NDArray[np.float64], ArrayLike]
    @property
    def contact(self) -> _MjContactList: ...
    crb: Field[NDArray[np.float64], ArrayLike]
    ctrl: Field[NDArray[np.float64], ArrayLike]
    cvel: Field[NDArray[np.float64], ArrayLike]
    dof_awake_ind: Field[NDArray[np.int32], ArrayLike]
    @property
    def dof_island(self) -> NDArray[np.int32]: ...
    @property
    def efc_AR(self) -> NDArray[np.float64]: ...
    @property
    def efc_AR_colind(self) -> NDArray[np.int32]: ...
    @property
    def efc_AR_rowadr(self) -> NDArray[np.int32]: ...
    @property
    def efc_AR_rownnz(self) -> NDArray[np.int32]: ...
    @property
    def efc_D(self) -> NDArray[np.float64]: ...
    @property
    def efc_J(self) -> NDArray[np.float64]: ...
    @property
    def efc_J_colind(self) -> NDArray[np.int32]: ...
    @property
    def efc_J_rowadr(self) -> NDArray[np.int32]: ...
    @property
    def efc_J_rownnz(self) -> NDArray[np.int32]: ...
    @property
    def efc_J_rowsuper(self) -> NDArray[np.int32]: ...
    @property
    def efc_KBIP(self) -> NDArray[np.float64]: ...
    @property
    def efc_R(self) -> NDArray[np.float64]: ...
    @property
    def efc_Y(self) -> NDArray[np.float64]: ...
    @property
    def efc_Y_colind(self) -> NDArray[np.int32]: ...
    @property
    def efc_Y_rowadr(self) -> NDArray[np.int32]: ...
    @property
    def efc_Y_rownnz(self) -> NDArray[np.int32]: ...
    @property
    def efc_aref(self) -> NDArray[np.float64]: ...
    @property
    def efc_b(self) -> NDArray[np.float64]: ...
    @property
    def efc_diagA(self) -> NDArray[np.float64]: ...
    @property
    def efc_force(self) -> NDArray[np.float64]: ...
    @property
    def efc_frictionloss(self) -> NDArray[np.float64]: ...
    @property
    def efc_id(self) -> NDArray[np.int32]: ...
    @property
    def efc_island(self) -> NDArray[np.int32]: ...
    @property
    def efc_margin(self) -> NDArray[np.float64]: ...
    @property
    def efc_pos(self) -> NDArray[np.float64]: ...
    @property
    def efc_state(self) -> NDArray[np.int32]: ...
    @property
    def efc_type(self) -> NDArray[np.int32]: ...
    @property
    def efc_vel(self) -> NDArray[np.float64]: ...
    @property
    def efm_K_colind(self) -> NDArray[np.int32]: ...
    @property
    def efm_K_rowadr(self) -> NDArray[np.int32]: ...
    @property
    def efm_K_rownnz(self) -> NDArray[np.int32]: ...
    @property
    def efm_K_val(self) -> NDArray[np.float64]: ...
    @property
    def efm_L(self) -> NDArray[np.float64]: ...
    efm_active: Field[int, Integer]
    @property
    def efm_aid(self) -> NDArray[np.int32]: ...
    @property
    def efm_ak(self) -> NDArray[np.float64]: ...
    @property
    def efm_as(self) -> NDArray[np.float64]: ...
    @property
    def efm_c(self) -> NDArray[np.float64]: ...
    @property
    def efm_ca(self) -> NDArray[np.float64]: ...
    @property
    def efm_ck(self) -> NDArray[np.float64]: ...
    @property
    def efm_con_ind(self) -> NDArray[np.int32]: ...
    @property
    def efm_con_val(self) -> NDArray[np.float64]: ...
    @property
    def efm_diag(self) -> NDArray[np.float64]: ...
    @property
    def efm_dofid(self) -> NDArray[np.int32]: ...
    @property
    def efm_fluid(self) -> NDArray[np.float64]: ...
    @property
    def efm_sdiag(self) -> NDArray[np.float64]: ...
    @property
    def efm_tid(self) -> NDArray[np.int32]: ...
    @property
    def efm_tk(self) -> NDArray[np.float64]: ...
    @property
    def efm_ts(self) -> NDArray[np.float64]: ...
    energy: Field[NDArray[np.float64], ArrayLike]
    eq_active: Field[NDArray[np.bool], ArrayLike]
    flex_hessian_valid: Field[NDArray[np.bool], ArrayLike]
    flexedge_J: Field[NDArray[np.float64], ArrayLike]
    flexedge_hessian: Field[NDArray[np.float64], ArrayLike]
    flexedge_length: Field[NDArray[np.float64], ArrayLike]
    flexedge_velocity: Field[NDArray[np.float64], ArrayLike]
    flexelem_aabb: Field[NDArray[np.float64], ArrayLike]
    flexelem_krot: Field[NDArray[np.float64], ArrayLike]
    flexvert_conage: Field[NDArray[np.int32], ArrayLike]
    flexvert_hessian: Field[NDArray[np.float64], ArrayLike]
    flexvert_lambda: Field[NDArray[np.float64], ArrayLike]
    flexvert_xpos: Field[NDArray[np.float64], ArrayLike]
    flg_energypos: bool
    flg_energyvel: bool
    flg_rnepost: bool
    flg_subtreevel: bool
    @overload
    def geom(self, arg0: Integer) -> _MjDataGeomViews: ...
    @overload
    def geom(self, name: str = ...) -> _MjDataGeomViews: ...
    geom_xmat: Field[NDArray[np.float64], ArrayLike]
    geom_xpos: Field[NDArray[np.float64], ArrayLike]
    geom_xquat: Field[NDArray[np.float64], ArrayLike]
    history: Field[NDArray[np.float64], ArrayLike]
    @property
    def iacc(self) -> NDArray[np.float64]: ...
    @property
    def iacc_smooth(self) -> NDArray[np.float64]: ...
    @property
    def iefc_D(self) -> NDArray[np.float64]: ...
    @property
    def iefc_R(self) -> NDArray[np.float64]: ...
    @property
    def iefc_aref(self) -> NDArray[np.float64]: ...
    @property
    def iefc_force(self) -> NDArray[np.float64]: ...
    @property
    def iefc_frictionloss(self) -> NDArray[np.float64]: ...
    @property
    def iefc_id(self) -> NDArray[np.int32]: ...
    @property
    def iefc_state(self) -> NDArray[np.int32]: ...
    @property
    def iefc_type(self) -> NDArray[np.int32]: ...
    @property
    def ifrc_constraint(self) -> NDArray[np.float64]: ...
    @property
    def ifrc_smooth(self) -> NDArray[np.float64]: ...
    @property
    def island_dofadr(self) -> NDArray[np.int32]: ...
    @property
    def island_idofadr(self) -> NDArray[np.int32]: ...
    @property
    def island_iefcadr(self) -> NDArray[np.int32]: ...
    @property
    def island_itreeadr(self) -> NDArray[np.int32]: ...
    @property
    def island_ne(self) -> NDArray[np.int32]: ...
    @property
    def island_nefc(self) -> NDArray[np.int32]: ...
    @property
    def island_nf(self) -> NDArray[np.int32]: ...
    @property
    def island_ntree(self) -> NDArray[np.int32]: ...
    @property
    def island_nv(self) -> NDArray[np.int32]: ...
    @overload
    def jnt(self, arg0: Integer) -> _MjDataJointViews: ...
    @overload
    def jnt(self, name: str = ...) -> _MjDataJointViews: ...
    @overload
    def joint(self, arg0: Integer) -> _MjDataJointViews: ...
    @overload
    def joint(self, name: str = ...) -> _MjDataJointViews: ...
    @overload
    def light(self, arg0: Integer) -> _MjDataLightViews: ...
    @overload
    def light(self, name: str = ...) -> _MjDataLightViews: ...
    light_xdir: Field[NDArray[np.float64], ArrayLike]
    light_xpos: Field[NDArray[np.float64], ArrayLike]
    @property
    def map_dof2idof(self) -> NDArray[np.int32]: ...
    @property
    def map_efc2iefc(self) -> NDArray[np.int32]: ...
    @property
    def map_idof2dof(self) -> NDArray[np.int32]: ...
    @property
    def map_iefc2efc(self) -> NDArray[np.int32]: ...
    @property
    def map_itree2tree(self) -> NDArray[np.int32]: ...
    maxuse_arena: Field[int, Integer]
    maxuse_con: Field[int, Integer]
    maxuse_efc: Field[int, Integer]
    maxuse_stack: Field[int, Integer]
    mocap_pos: Field[NDArray[np.float64], ArrayLike]
    mocap_quat: Field[NDArray[np.float64], ArrayLike]
    @property
    def model(self) -> MjModel: ...
    moment_colind: Field[NDArray[np.int32], ArrayLike]
    moment_rowadr: Field[NDArray[np.int32], ArrayLike]
    moment_rownnz: Field[NDArray[np.int32], ArrayLike]
    nA: Field[int, Integer]
    nJ: Field[int, Integer]
    nY: Field[int, Integer]
    narena: Field[int, Integer]
    nbody_awake: Field[int, Integer]
    nbuffer: Field[int, Integer]
    ncon: Field[int, Integer]
    ne: Field[int, Integer]
    nefc: Field[int, Integer]
    nefmA: Field[int, Integer]
    nefmK: Field[int, Integer]
    nefmL: Field[int, Integer]
    nefmT: Field[int, Integer]
    nefmcon: Field[int, Integer]
    nefmdof: Field[int, Integer]
    nf: Field[int, Integer]
    nidof: Field[int, Integer]
    nisland: Field[int, Integer]
    nl: Field[int, Integer]
    nparent_awake: Field[int, Integer]
    nplugin: Field[int, Integer]
    ntree_awake: Field[int, Integer]
    nv_awake: Field[int, Integer]
    parena: Field[int, Integer]
    parent_awake_ind: Field[NDArray[np.int32], ArrayLike]
    pbase: Field[int, Integer]
    plastic: Field[NDArray[np.float64], ArrayLike]
    plugin: Field[NDArray[np.int32], ArrayLike]
    plugin_data: Field[NDArray[np.uint64], ArrayLike]
    plugin_state: Field[NDArray[np.float64], ArrayLike]
    pstack: Field[int, Integer]
    qDeriv: Field[NDArray[np.float64], ArrayLike]
    qH: Field[NDArray[np.float64], ArrayLike]
    qHDiagInv: Field[NDArray[np.float64], ArrayLike]
    qLD: Field[NDArray[np.float64], ArrayLike]
    qLDiagInv: Field[NDArray[np.float64], ArrayLike]
    qLU: Field[NDArray[np.float64], ArrayLike]
    qacc: Field[NDArray[np.float64], ArrayLike]
    qacc_smooth: Field[NDArray[np.float64], ArrayLike]
    qacc_warmstart: Field[NDArray[np.float64], ArrayLike]
    qfrc_actuator: Field[NDArray[np.float64], ArrayLike]
    qfrc_adhesion: Field[NDArray[np.float64], ArrayLike]
    qfrc_applied: Field[NDArray[np.float64], ArrayLike]
    qfrc_bias: Field[NDArray[np.float64], ArrayLike]
    qfrc_constraint: Field[NDArray[np.float64], ArrayLike]
    qfrc_damper: Field[NDArray[np.float64], ArrayLike]
    qfrc_fluid: Field[NDArray[np.float64], ArrayLike]
    qfrc_gravcomp: Field[NDArray[np.float64], ArrayLike]
    qfrc_inverse: Field[NDArray[np.float64], ArrayLike]
    qfrc_passive: Field[NDArray[np.float64], ArrayLike]
    qfrc_smooth: Field[NDArray[np.float64], ArrayLike]
    qfrc_spring: Field[NDArray[np.float64], ArrayLike]
    qpos: Field[NDArray[np.float64], ArrayLike]
    qvel: Field[NDArray[np.float64], ArrayLike]
    @overload
    def sensor(self, arg0: Integer) -> _MjDataSensorViews: ...
    @overload
    def sensor(self, name: str = ...) -> _MjDataSensorViews: ...
    sensordata: Field[NDArray[np.float64], ArrayLike]
    @property
    def signature(self) -> int: ...
    @overload
    def site(self, arg0: Integer) -> _MjDataSiteViews: ...
    @overload
    def site(self, name: str = ...) -> _MjDataSiteViews: ...
    site_xmat: Field[NDArray[np.float64], ArrayLike]
    site_xpos: Field[NDArray[np.float64], ArrayLike]
    site_xquat: Field[NDArray[np.float64], ArrayLike]
    @property
    def solver(self) -> _MjSolverStatList: ...
    solver_fwdinv: Field[NDArray[np.float64], ArrayLike]
    solver_niter: Field[NDArray[np.int32], ArrayLike]
    solver_nnz: Field[NDArray[np.int32], ArrayLike]
    subtree_angmom: Field[NDArray[np.float64], ArrayLike]
    subtree_com: Field[NDArray[np.float64], ArrayLike]
    subtree_linvel: Field[NDArray[np.float64], ArrayLike]
    @overload
    def ten(self, arg0: Integer) -> _MjDataTendonViews: ...
    @overload
    def ten(self, name: str = ...) -> _MjDataTendonViews: ...
    ten_J: Field[NDArray[np.float64], ArrayLike]
    ten_length: Field[NDArray[np.float64], ArrayLike]
    ten_velocity: Field[NDArray[np.float64], ArrayLike]
    ten_wrapadr: Field[NDArray[np.int32], ArrayLike]
    ten_wrapnum: Field[NDArray[np.int32], ArrayLike]
    @overload
    def tendon(self, arg0: Integer) -> _MjDataTendonViews: ...
    @overload
    def tendon(self, name: str = ...) -> _MjDataTendonViews: ...
    @property
    def tendon_efcadr(self) -> NDArray[np.int32]: ...
    threadpool: Field[int, Integer]
    time: Field[float, Real]
    @property
    def timer(self) -> _MjTimerStatList: ...
    tree_asleep: Field[NDArray[np.int32], ArrayLike]
    tree_awake: Field[NDArray[np.int32], ArrayLike]
    @property
    def tree_island(self) -> NDArray[np.int32]: ...
    userdata: Field[NDArray[np.float64], ArrayLike]
    @property
    def warning(self) -> _MjWarningStatList: ...
    wrap_obj: Field[NDArray[np.int32], ArrayLike]
    wrap_xpos: Field[NDArray[np.float64], ArrayLike]
    xanchor: Field[NDArray[np.float64], ArrayLike]
    xaxis: Field[NDArray[np.float64], ArrayLike]
    xfrc_applied: Field[NDArray[np.float64], ArrayLike]
    ximat: Field[NDArray[np.float64], ArrayLike]
    xipos: Field[NDArray[np.float64], ArrayLike]
    xiquat: Field[NDArray[np.float64], ArrayLike]
    xmat: Field[NDArray[np.float64], ArrayLike]
    xpos: Field[NDArray[np.float64], ArrayLike]
    xquat: Field[NDArray[np.float64], ArrayLike]

class MjLROpt:
    def __copy__(self) -> MjLROpt: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjLROpt: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    accel: Field[float, Real]
    interval: Field[float, Real]
    inttotal: Field[float, Real]
    maxforce: Field[float, Real]
    mode: Field[int, Integer]
    timeconst: Field[float, Real]
    timestep: Field[float, Real]
    tolrange: Field[float, Real]
    useexisting: Field[int, Integer]
    uselimit: Field[int, Integer]

class MjLogConfig:
    def __copy__(self) -> MjLogConfig: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjLogConfig: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    @staticmethod
    def get() -> MjLogConfig: ...
    logfile: str
    logto_console: bool
    logto_file: bool
    def set(self) -> None: ...
    topics: Field[int, Integer]

class MjLogMessage:
    def __copy__(self) -> MjLogMessage: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjLogMessage: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def body(self) -> object: ...
    @property
    def file(self) -> object: ...
    @property
    def func(self) -> object: ...
    level: Field[int, Integer]
    line: Field[int, Integer]
    subject: str
    timestamp: bool
    topic: Field[int, Integer]

class MjModel:
    B_colind: Field[NDArray[np.int32], ArrayLike]
    B_rowadr: Field[NDArray[np.int32], ArrayLike]
    B_rownnz: Field[NDArray[np.int32], ArrayLike]
    D_colind: Field[NDArray[np.int32], ArrayLike]
    D_diag: Field[NDArray[np.int32], ArrayLike]
    D_rowadr: Field[NDArray[np.int32], ArrayLike]
    D_rownnz: Field[NDArray[np.int32], ArrayLike]
    M_colind: Field[NDArray[np.int32], ArrayLike]
    M_rowadr: Field[NDArray[np.int32], ArrayLike]
    M_rownnz: Field[NDArray[np.int32], ArrayLike]
    def __copy__(self) -> MjModel: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjModel: ...
    def __getstate__(self, /) -> bytes: ...
    def __setstate__(self, arg0: bytes) -> None: ...
    @property
    def _address(self) -> int: ...
    _all_fields: ClassVar[builtins.tuple[Any, ...]]
    @staticmethod
    def _from_model_ptr(arg0: Integer) -> MjModel: ...
    _setconst_fields: ClassVar[dict[Any, Any]]
    _setconst_groups: ClassVar[builtins.tuple[str, str, str, str]]
    _setconst_inputs: ClassVar[builtins.tuple[Any, ...]]
    _setconst_outputs: ClassVar[builtins.tuple[Any, ...]]
    _setconst_scalars: ClassVar[builtins.tuple[Any, ...]]
    _size_fields: ClassVar[builtins.tuple[Any, ...]]
    @property
    def _sizes(self) -> NDArray[np.int64]: ...
    @overload
    def actuator(self, arg0: Integer) -> _MjModelActuatorViews: ...
    @overload
    def actuator(self, name: str = ...) -> _MjModelActuatorViews: ...
    actuator_acc0: Field[NDArray[np.float64], ArrayLike]
    actuator_actadr: Field[NDArray[np.int32], ArrayLike]
    actuator_actearly: Field[NDArray[np.bool], ArrayLike]
    actuator_actlimited: Field[NDArray[np.bool], ArrayLike]
    actuator_actnum: Field[NDArray[np.int32], ArrayLike]
    actuator_actrange: Field[NDArray[np.float64], ArrayLike]
    actuator_armature: Field[NDArray[np.float64], ArrayLike]
    actuator_biasprm: Field[NDArray[np.float64], ArrayLike]
    actuator_biastype: Field[NDArray[np.int32], ArrayLike]
    actuator_cranklength: Field[NDArray[np.float64], ArrayLike]
    actuator_ctrladr: Field[NDArray[np.int32], ArrayLike]
    actuator_ctrllimited: Field[NDArray[np.bool], ArrayLike]
    actuator_ctrlnum: Field[NDArray[np.int32], ArrayLike]
    actuator_ctrlrange: Field[NDArray[np.float64], ArrayLike]
    actuator_ctrlspec: Field[NDArray[np.int32], ArrayLike]
    actuator_damping: Field[NDArray[np.float64], ArrayLike]
    actuator_dampingpoly: Field[NDArray[np.float64], ArrayLike]
    actuator_delay: Field[NDArray[np.float64], ArrayLike]
    actuator_dynprm: Field[NDArray[np.float64], ArrayLike]
    actuator_dyntype: Field[NDArray[np.int32], ArrayLike]
    actuator_forcelimited: Field[NDArray[np.bool], ArrayLike]
    actuator_forcerange: Field[NDArray[np.float64], ArrayLike]
    actuator_gainprm: Field[NDArray[np.float64], ArrayLike]
    actuator_gaintype: Field[NDArray[np.int32], ArrayLike]
    actuator_gear: Field[NDArray[np.float64], ArrayLike]
    actuator_group: Field[NDArray[np.int32], ArrayLike]
    actuator_history: Field[NDArray[np.int32], ArrayLike]
    actuator_historyadr: Field[NDArray[np.int32], ArrayLike]
    actuator_length0: Field[NDArray[np.float64], ArrayLike]
    actuator_lengthrange: Field[NDArray[np.float64], ArrayLike]
    actuator_outadr: Field[NDArray[np.int32], ArrayLike]
    actuator_outnum: Field[NDArray[np.int32], ArrayLike]
    actuator_plugin: Field[NDArray[np.int32], ArrayLike]
    actuator_trnid: Field[NDArray[np.int32], ArrayLike]
    actuator_trntype: Field[NDArray[np.int32], ArrayLike]
    actuator_user: Field[NDArray[np.float64], ArrayLike]
    def bind(self, specs: Sequence[_specs.MjsBody | _specs.MjsFrame | _specs.MjsGeom | _specs.MjsJoint | _specs.MjsLight | _specs.MjsMaterial | _specs.MjsSite | _specs.MjsMesh | _specs.MjsSkin | _specs.MjsTexture | _specs.MjsText | _specs.MjsTuple | _specs.MjsCamera | _specs.MjsFlex | _specs.MjsHField | _specs.MjsKey | _specs.MjsNumeric | _specs.MjsPair | _specs.MjsExclude | _specs.MjsEquality | _specs.MjsTendon | _specs.MjsSensor | _specs.MjsActuator | _specs.MjsPlugin] | _specs.MjsBody | _specs.MjsFrame | _specs.MjsGeom | _specs.MjsJoint | _specs.MjsLight | _specs.MjsMaterial | _specs.MjsSite | _specs.MjsMesh | _specs.MjsSkin | _specs.MjsTexture | _specs.MjsText | _specs.MjsTuple | _specs.MjsCamera | _specs.MjsFlex | _specs.MjsHField | _specs.MjsKey | _specs.MjsNumeric | _specs.MjsPair | _specs.MjsExclude | _specs.MjsEquality | _specs.MjsTendon | _specs.MjsSensor | _specs.MjsActuator | _specs.MjsPlugin) -> Any: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsActuator | None = ...) -> _MjModelActuatorViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsBody | None = ...) -> _MjModelBodyViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsCamera | None = ...) -> _MjModelCameraViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsEquality | None = ...) -> _MjModelEqualityViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsExclude | None = ...) -> _MjModelExcludeViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsGeom | None = ...) -> _MjModelGeomViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsHField | None = ...) -> _MjModelHfieldViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsJoint | None = ...) -> _MjModelJointViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsLight | None = ...) -> _MjModelLightViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsMaterial | None = ...) -> _MjModelMaterialViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsMesh | None = ...) -> _MjModelMeshViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsNumeric | None = ...) -> _MjModelNumericViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsPair | None = ...) -> _MjModelPairViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsSensor | None = ...) -> _MjModelSensorViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsSite | None = ...) -> _MjModelSiteViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsSkin | None = ...) -> _MjModelSkinViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsTendon | None = ...) -> _MjModelTendonViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsTexture | None = ...) -> _MjModelTextureViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsTuple | None = ...) -> _MjModelTupleViews: ...
    @overload
    def bind_scalar(self, spec: _specs.MjsKey | None = ...) -> _MjModelKeyframeViews: ...
    @overload
    def body(self, arg0: Integer) -> _MjModelBodyViews: ...
    @overload
    def body(self, name: str = ...) -> _MjModelBodyViews: ...
    body_bvhadr: Field[NDArray[np.int32], ArrayLike]
    body_bvhnum: Field[NDArray[np.int32], ArrayLike]
    body_conaffinity: Field[NDArray[np.int32], ArrayLike]
    body_contype: Field[NDArray[np.int32], ArrayLike]
    body_dofadr: Field[NDArray[np.int32], ArrayLike]
    body_dofnum: Field[NDArray[np.int32], ArrayLike]
    body_geomadr: Field[NDArray[np.int32], ArrayLike]
    body_geomnum: Field[NDArray[np.int32], ArrayLike]
    body_gravcomp: Field[NDArray[np.float64], ArrayLike]
    body_inertia: Field[NDArray[np.float64], ArrayLike]
    body_invweight0: Field[NDArray[np.float64], ArrayLike]
    body_ipos: Field[NDArray[np.float64], ArrayLike]
    body_iquat: Field[NDArray[np.float64], ArrayLike]
    body_jntadr: Field[NDArray[np.int32], ArrayLike]
    body_jntnum: Field[NDArray[np.int32], ArrayLike]
    body_margin: Field[NDArray[np.float64], ArrayLike]
    body_mass: Field[NDArray[np.float64], ArrayLike]
    body_mocapid: Field[NDArray[np.int32], ArrayLike]
    body_parentid: Field[NDArray[np.int32], ArrayLike]
    body_plugin: Field[NDArray[np.int32], ArrayLike]
    body_pos: Field[NDArray[np.float64], ArrayLike]
    body_quat: Field[NDArray[np.float64], ArrayLike]
    body_rootid: Field[NDArray[np.int32], ArrayLike]
    body_sameframe: Field[NDArray[np.uint8], ArrayLike]
    body_simple: Field[NDArray[np.uint8], ArrayLike]
    body_subtreemass: Field[NDArray[np.float64], ArrayLike]
    body_treeid: Field[NDArray[np.int32], ArrayLike]
    body_user: Field[NDArray[np.float64], ArrayLike]
    body_weldid: Field[NDArray[np.int32], ArrayLike]
    bvh_aabb: Field[NDArray[np.float64], ArrayLike]
    bvh_child: Field[NDArray[np.int32], ArrayLike]
    bvh_depth: Field[NDArray[np.int32], ArrayLike]
    bvh_nodeid: Field[NDArray[np.int32], ArrayLike]
    @overload
    def cam(self, arg0: Integer) -> _MjModelCameraViews: ...
    @overload
    def cam(self, name: str = ...) -> _MjModelCameraViews: ...
    cam_bodyid: Field[NDArray[np.int32], ArrayLike]
    cam_fovy: Field[NDArray[np.float64], ArrayLike]
    cam_intrinsic: Field[NDArray[np.float32], ArrayLike]
    cam_ipd: Field[NDArray[np.float64], ArrayLike]
    cam_mat0: Field[NDArray[np.float64], ArrayLike]
    cam_mode: Field[NDArray[np.int32], ArrayLike]
    cam_output: Field[NDArray[np.int32], ArrayLike]
    cam_pos: Field[NDArray[np.float64], ArrayLike]
    cam_pos0: Field[NDArray[np.float64], ArrayLike]
    cam_poscom0: Field[NDArray[np.float64], ArrayLike]
    cam_projection: Field[NDArray[np.int32], ArrayLike]
    cam_quat: Field[NDArray[np.float64], ArrayLike]
    cam_resolution: Field[NDArray[np.int32], ArrayLike]
    cam_sensorsize: Field[NDArray[np.float32], ArrayLike]
    cam_targetbodyid: Field[NDArray[np.int32], ArrayLike]
    cam_user: Field[NDArray[np.float64], ArrayLike]
    @overload
    def camera(self, arg0: Integer) -> _MjModelCameraViews: ...
    @overload
    def camera(self, name: str = ...) -> _MjModelCameraViews: ...
    dof_M0: Field[NDArray[np.float64], ArrayLike]
    dof_Madr: Field[NDArray[np.int32], ArrayLike]
    dof_armature: Field[NDArray[np.float64], ArrayLike]
    dof_bodyid: Field[NDArray[np.int32], ArrayLike]
    dof_damping: Field[NDArray[np.float64], ArrayLike]
    dof_dampingpoly: Field[NDArray[np.float64], ArrayLike]
    dof_frictionloss: Field[NDArray[np.float64], ArrayLike]
    dof_invweight0: Field[NDArray[np.float64], ArrayLike]
    dof_jntid: Field[NDArray[np.int32], ArrayLike]
    dof_length: Field[NDArray[np.float64], ArrayLike]
    dof_parentid: Field[NDArray[np.int32], ArrayLike]
    dof_simplenum: Field[NDArray[np.int32], ArrayLike]
    dof_solimp: Field[NDArray[np.float64], ArrayLike]
    dof_solref: Field[NDArray[np.float64], ArrayLike]
    dof_treeid: Field[NDArray[np.int32], ArrayLike]
    efm0_L: Field[NDArray[np.float64], ArrayLike]
    efm0_L_colind: Field[NDArray[np.int32], ArrayLike]
    efm0_L_rowadr: Field[NDArray[np.int32], ArrayLike]
    efm0_L_rownnz: Field[NDArray[np.int32], ArrayLike]
    efm0_dofid: Field[NDArray[np.int32], ArrayLike]
    efmC_perm: Field[NDArray[np.int32], ArrayLike]
    @overload
    def eq(self, arg0: Integer) -> _MjModelEqualityViews: ...
    @overload
    def eq(self, name: str = ...) -> _MjModelEqualityViews: ...
    eq_active0: Field[NDArray[np.bool], ArrayLike]
    eq_data: Field[NDArray[np.float64], ArrayLike]
    eq_obj1id: Field[NDArray[np.int32], ArrayLike]
    eq_obj2id: Field[NDArray[np.int32], ArrayLike]
    eq_objtype: Field[NDArray[np.int32], ArrayLike]
    eq_solimp: Field[NDArray[np.float64], ArrayLike]
    eq_solref: Field[NDArray[np.float64], ArrayLike]
    eq_type: Field[NDArray[np.int32], ArrayLike]
    @overload
    def equality(self, arg0: Integer) -> _MjModelEqualityViews: ...
    @overload
    def equality(self, name: str = ...) -> _MjModelEqualityViews: ...
    @overload
    def exclude(self, arg0: Integer) -> _MjModelExcludeViews: ...
    @overload
    def exclude(self, name: str = ...) -> _MjModelExcludeViews: ...
    exclude_signature: Field[NDArray[np.int32], ArrayLike]
    flex_activelayers: Field[NDArray[np.int32], ArrayLike]
    flex_bending: Field[NDArray[np.float64], ArrayLike]
    flex_bendingadr: Field[NDArray[np.int32], ArrayLike]
    flex_bvhadr: Field[NDArray[np.int32], ArrayLike]
    flex_bvhnum: Field[NDArray[np.int32], ArrayLike]
    flex_cellnum: Field[NDArray[np.int32], ArrayLike]
    flex_centered: Field[NDArray[np.bool], ArrayLike]
    flex_conaffinity: Field[NDArray[np.int32], ArrayLike]
    flex_condim: Field[NDArray[np.int32], ArrayLike]
    flex_contype: Field[NDArray[np.int32], ArrayLike]
    flex_damping: Field[NDArray[np.float64], ArrayLike]
    flex_dim: Field[NDArray[np.int32], ArrayLike]
    flex_edge: Field[NDArray[np.int32], ArrayLike]
    flex_edgeadr: Field[NDArray[np.int32], ArrayLike]
    flex_edgedamping: Field[NDArray[np.float64], ArrayLike]
    flex_edgeequality: Field[NDArray[np.int32], ArrayLike]
    flex_edgeflap: Field[NDArray[np.int32], ArrayLike]
    flex_edgenum: Field[NDArray[np.int32], ArrayLike]
    flex_edgestiffness: Field[NDArray[np.float64], ArrayLike]
    flex_elem: Field[NDArray[np.int32], ArrayLike]
    flex_elemadr: Field[NDArray[np.int32], ArrayLike]
    flex_elemdataadr: Field[NDArray[np.int32], ArrayLike]
    flex_elemedge: Field[NDArray[np.int32], ArrayLike]
    flex_elemedgeadr: Field[NDArray[np.int32], ArrayLike]
    flex_elemlayer: Field[NDArray[np.int32], ArrayLike]
    flex_elemnum: Field[NDArray[np.int32], ArrayLike]
    flex_elemtexcoord: Field[NDArray[np.int32], ArrayLike]
    flex_flatskin: Field[NDArray[np.bool], ArrayLike]
    flex_friction: Field[NDArray[np.float64], ArrayLike]
    flex_gap: Field[NDArray[np.float64], ArrayLike]
    flex_group: Field[NDArray[np.int32], ArrayLike]
    flex_interp: Field[NDArray[np.int32], ArrayLike]
    flex_margin: Field[NDArray[np.float64], ArrayLike]
    flex_matid: Field[NDArray[np.int32], ArrayLike]
    flex_node: Field[NDArray[np.float64], ArrayLike]
    flex_node0: Field[NDArray[np.float64], ArrayLike]
    flex_nodeadr: Field[NDArray[np.int32], ArrayLike]
    flex_nodebodyid: Field[NDArray[np.int32], ArrayLike]
    flex_nodenum: Field[NDArray[np.int32], ArrayLike]
    flex_passive: Field[NDArray[np.int32], ArrayLike]
    flex_plasticadr: Field[NDArray[np.int32], ArrayLike]
    flex_plasticmode: Field[NDArray[np.int32], ArrayLike]
    flex_priority: Field[NDArray[np.int32], ArrayLike]
    flex_radius: Field[NDArray[np.float64], ArrayLike]
    flex_rgba: Field[NDArray[np.float32], ArrayLike]
    flex_rigid: Field[NDArray[np.bool], ArrayLike]
    flex_selfcollide: Field[NDArray[np.int32], ArrayLike]
    flex_shell: Field[NDArray[np.int32], ArrayLike]
    flex_shelldataadr: Field[NDArray[np.int32], ArrayLike]
    flex_shellnum: Field[NDArray[np.int32], ArrayLike]
    flex_size: Field[NDArray[np.float64], ArrayLike]
    flex_solimp: Field[NDArray[np.float64], ArrayLike]
    flex_solmix: Field[NDArray[np.float64], ArrayLike]
    flex_solref: Field[NDArray[np.float64], ArrayLike]
    flex_stiffness: Field[NDArray[np.float64], ArrayLike]
    flex_stiffnessadr: Field[NDArray[np.int32], ArrayLike]
    flex_texcoord: Field[NDArray[np.float32], ArrayLike]
    flex_texcoordadr: Field[NDArray[np.int32], ArrayLike]
    flex_vert: Field[NDArray[np.float64], ArrayLike]
    flex_vert0: Field[NDArray[np.float64], ArrayLike]
    flex_vertadr: Field[NDArray[np.int32], ArrayLike]
    flex_vertbodyid: Field[NDArray[np.int32], ArrayLike]
    flex_vertcell: Field[NDArray[np.int32], ArrayLike]
    flex_vertnum: Field[NDArray[np.int32], ArrayLike]
    flex_yield: Field[NDArray[np.float64], ArrayLike]
    flexedge_J_colind: Field[NDArray[np.int32], ArrayLike]
    flexedge_J_rowadr: Field[NDArray[np.int32], ArrayLike]
    flexedge_J_rownnz: Field[NDArray[np.int32], ArrayLike]
    flexedge_invweight0: Field[NDArray[np.float64], ArrayLike]
    flexedge_length0: Field[NDArray[np.float64], ArrayLike]
    flexedge_rigid: Field[NDArray[np.bool], ArrayLike]
    flg_adhesion: bool
    flg_gravcomp: bool
    flg_surfacevel: bool
    @staticmethod
    def from_binary_path(filename: str, assets: Mapping[str, bytes] | None = ..., vfs: _specs.MjVfs | None = ...) -> MjModel: ...
    @staticmethod
    def from_xml_path(filename: str, assets: Mapping[str, bytes] | None = ..., vfs: _specs.MjVfs | None = ...) -> MjModel: ...
    @staticmethod
    def from_xml_string(xml: str, assets: Mapping[str, bytes] | None = ..., vfs: _specs.MjVfs | None = ...) -> MjModel: ...
    @overload
    def geom(self, arg0: Integer) -> _MjModelGeomViews: ...
    @overload
    def geom(self, name: str = ...) -> _MjModelGeomViews: ...
    geom_aabb: Field[NDArray[np.float64], ArrayLike]
    geom_adhesion: Field[NDArray[np.float64], ArrayLike]
    geom_bodyid: Field[NDArray[np.int32], ArrayLike]
    geom_castshadow: Field[NDArray[np.bool], ArrayLike]
    geom_conaffinity: Field[NDArray[np.int32], ArrayLike]
    geom_condim: Field[NDArray[np.int32], ArrayLike]
    geom_contype: Field[NDArray[np.int32], ArrayLike]
    geom_dataid: Field[NDArray[np.int32], ArrayLike]
    geom_fluid: Field[NDArray[np.float64], ArrayLike]
    geom_friction: Field[NDArray[np.float64], ArrayLike]
    geom_gap: Field[NDArray[np.float64], ArrayLike]
    geom_group: Field[NDArray[np.int32], ArrayLike]
    geom_margin: Field[NDArray[np.float64], ArrayLike]
    geom_matid: Field[NDArray[np.int32], ArrayLike]
    geom_plugin: Field[NDArray[np.int32], ArrayLike]
    geom_pos: Field[NDArray[np.float64], ArrayLike]
    geom_priority: Field[NDArray[np.int32], ArrayLike]
    geom_quat: Field[NDArray[np.float64], ArrayLike]
    geom_rbound: Field[NDArray[np.float64], ArrayLike]
    geom_rgba: Field[NDArray[np.float32], ArrayLike]
    geom_sameframe: Field[NDArray[np.uint8], ArrayLike]
    geom_size: Field[NDArray[np.float64], ArrayLike]
    geom_solimp: Field[NDArray[np.float64], ArrayLike]
    geom_solmix: Field[NDArray[np.float64], ArrayLike]
    geom_solref: Field[NDArray[np.float64], ArrayLike]
    geom_surfacevel: Field[NDArray[np.float64], ArrayLike]
    geom_type: Field[NDArray[np.int32], ArrayLike]
    geom_user: Field[NDArray[np.float64], ArrayLike]
    @overload
    def hfield(self, arg0: Integer) -> _MjModelHfieldViews: ...
    @overload
    def hfield(self, name: str = ...) -> _MjModelHfieldViews: ...
    hfield_adr: Field[NDArray[np.int32], ArrayLike]
    hfield_data: Field[NDArray[np.float32], ArrayLike]
    hfield_ncol: Field[NDArray[np.int32], ArrayLike]
    hfield_nrow: Field[NDArray[np.int32], ArrayLike]
    hfield_pathadr: Field[NDArray[np.int32], ArrayLike]
    hfield_size: Field[NDArray[np.float64], ArrayLike]
    @overload
    def jnt(self, arg0: Integer) -> _MjModelJointViews: ...
    @overload
    def jnt(self, name: str = ...) -> _MjModelJointViews: ...
    jnt_actfrclimited: Field[NDArray[np.bool], ArrayLike]
    jnt_actfrcrange: Field[NDArray[np.float64], ArrayLike]
    jnt_actgravcomp: Field[NDArray[np.bool], ArrayLike]
    jnt_actuatorid: Field[NDArray[np.int32], ArrayLike]
    jnt_axis: Field[NDArray[np.float64], ArrayLike]
    jnt_bodyid: Field[NDArray[np.int32], ArrayLike]
    jnt_dofadr: Field[NDArray[np.int32], ArrayLike]
    jnt_group: Field[NDArray[np.int32], ArrayLike]
    jnt_limited: Field[NDArray[np.bool], ArrayLike]
    jnt_margin: Field[NDArray[np.float64], ArrayLike]
    jnt_plasticadr: Field[NDArray[np.int32], ArrayLike]
    jnt_pos: Field[NDArray[np.float64], ArrayLike]
    jnt_qposadr: Field[NDArray[np.int32], ArrayLike]
    jnt_range: Field[NDArray[np.float64], ArrayLike]
    jnt_solimp: Field[NDArray[np.float64], ArrayLike]
    jnt_solref: Field[NDArray[np.float64], ArrayLike]
    jnt_springyield: Field[NDArray[np.float64], ArrayLike]
    jnt_stiffness: Field[NDArray[np.float64], ArrayLike]
    jnt_stiffnesspoly: Field[NDArray[np.float64], ArrayLike]
    jnt_type: Field[NDArray[np.int32], ArrayLike]
    jnt_user: Field[NDArray[np.float64], ArrayLike]
    @overload
    def joint(self, arg0: Integer) -> _MjModelJointViews: ...
    @overload
    def joint(self, name: str = ...) -> _MjModelJointViews: ...
    @overload
    def key(self, arg0: Integer) -> _MjModelKeyframeViews: ...
    @overload
    def key(self, name: str = ...) -> _MjModelKeyframeViews: ...
    key_act: Field[NDArray[np.float64], ArrayLike]
    key_ctrl: Field[NDArray[np.float64], ArrayLike]
    key_mpos: Field[NDArray[np.float64], ArrayLike]
    key_mquat: Field[NDArray[np.float64], ArrayLike]
    key_plastic: Field[NDArray[np.float64], ArrayLike]
    key_qpos: Field[NDArray[np.float64], ArrayLike]
    key_qvel: Field[NDArray[np.float64], ArrayLike]
    key_time: Field[NDArray[np.float64], ArrayLike]
    @overload
    def keyframe(self, arg0: Integer) -> _MjModelKeyframeViews: ...
    @overload
    def keyframe(self, name: str = ...) -> _MjModelKeyframeViews: ...
    @overload
    def light(self, arg0: Integer) -> _MjModelLightViews: ...
    @overload
    def light(self, name: str = ...) -> _MjModelLightViews: ...
    light_active: Field[NDArray[np.bool], ArrayLike]
    light_ambient: Field[NDArray[np.float32], ArrayLike]
    light_attenuation: Field[NDArray[np.float32], ArrayLike]
    light_bodyid: Field[NDArray[np.int32], ArrayLike]
    light_bulbradius: Field[NDArray[np.float32], ArrayLike]
    light_castshadow: Field[NDArray[np.bool], ArrayLike]
    light_cutoff: Field[NDArray[np.float32], ArrayLike]
    light_diffuse: Field[NDArray[np.float32], ArrayLike]
    light_dir: Field[NDArray[np.float64], ArrayLike]
    light_dir0: Field[NDArray[np.float64], ArrayLike]
    light_exponent: Field[NDArray[np.float32], ArrayLike]
    light_intensity: Field[NDArray[np.float32], ArrayLike]
    light_mode: Field[NDArray[np.int32], ArrayLike]
    light_pos: Field[NDArray[np.float64], ArrayLike]
    light_pos0: Field[NDArray[np.float64], ArrayLike]
    light_poscom0: Field[NDArray[np.float64], ArrayLike]
    light_range: Field[NDArray[np.float32], ArrayLike]
    light_softness: Field[NDArray[np.float32], ArrayLike]
    light_specular: Field[NDArray[np.float32], ArrayLike]
    light_targetbodyid: Field[NDArray[np.int32], ArrayLike]
    light_texid: Field[NDArray[np.int32], ArrayLike]
    light_type: Field[NDArray[np.int32], ArrayLike]
    mapD2M: Field[NDArray[np.int32], ArrayLike]
    mapM2D: Field[NDArray[np.int32], ArrayLike]
    mapM2M: Field[NDArray[np.int32], ArrayLike]
    @overload
    def mat(self, arg0: Integer) -> _MjModelMaterialViews: ...
    @overload
    def mat(self, name: str = ...) -> _MjModelMaterialViews: ...
    mat_emission: Field[NDArray[np.float32], ArrayLike]
    mat_metallic: Field[NDArray[np.float32], ArrayLike]
    mat_reflectance: Field[NDArray[np.float32], ArrayLike]
    mat_rgba: Field[NDArray[np.float32], ArrayLike]
    mat_roughness: Field[NDArray[np.float32], ArrayLike]
    mat_shininess: Field[NDArray[np.float32], ArrayLike]
    mat_specular: Field[NDArray[np.float32], ArrayLike]
    mat_texid: Field[NDArray[np.int32], ArrayLike]
    mat_texrepeat: Field[NDArray[np.float32], ArrayLike]
    mat_texuniform: Field[NDArray[np.bool], ArrayLike]
    @overload
    def material(self, arg0: Integer) -> _MjModelMaterialViews: ...
    @overload
    def material(self, name: str = ...) -> _MjModelMaterialViews: ...
    @overload
    def mesh(self, arg0: Integer) -> _MjModelMeshViews: ...
    @overload
    def mesh(self, name: str = ...) -> _MjModelMeshViews: ...
    mesh_bvhadr: Field[NDArray[np.int32], ArrayLike]
    mesh_bvhnum: Field[NDArray[np.int32], ArrayLike]
    mesh_extrema: Field[NDArray[np.int32], ArrayLike]
    mesh_face: Field[NDArray[np.int32], ArrayLike]
    mesh_faceadr: Field[NDArray[np.int32], ArrayLike]
    mesh_facenormal: Field[NDArray[np.int32], ArrayLike]
    mesh_facenum: Field[NDArray[np.int32], ArrayLike]
    mesh_facetexcoord: Field[NDArray[np.int32], ArrayLike]
    mesh_graph: Field[NDArray[np.int32], ArrayLike]
    mesh_graphadr: Field[NDArray[np.int32], ArrayLike]
    mesh_normal: Field[NDArray[np.float32], ArrayLike]
    mesh_normaladr: Field[NDArray[np.int32], ArrayLike]
    mesh_normalnum: Field[NDArray[np.int32], ArrayLike]
    mesh_octadr: Field[NDArray[np.int32], ArrayLike]
    mesh_octnum: Field[NDArray[np.int32], ArrayLike]
    mesh_pathadr: Field[NDArray[np.int32], ArrayLike]
    mesh_polyadr: Field[NDArray[np.int32], ArrayLike]
    mesh_polymap: Field[NDArray[np.int32], ArrayLike]
    mesh_polymapadr: Field[NDArray[np.int32], ArrayLike]
    mesh_polymapnum: Field[NDArray[np.int32], ArrayLike]
    mesh_polynormal: Field[NDArray[np.float64], ArrayLike]
    mesh_polynum: Field[NDArray[np.int32], ArrayLike]
    mesh_polyvert: Field[NDArray[np.int32], ArrayLike]
    mesh_polyvertadr: Field[NDArray[np.int32], ArrayLike]
    mesh_polyvertnum: Field[NDArray[np.int32], ArrayLike]
    mesh_pos: Field[NDArray[np.float64], ArrayLike]
    mesh_quat: Field[NDArray[np.float64], ArrayLike]
    mesh_scale: Field[NDArray[np.float64], ArrayLike]
    mesh_texcoord: Field[NDArray[np.float32], ArrayLike]
    mesh_texcoordadr: Field[NDArray[np.int32], ArrayLike]
    mesh_texcoordnum: Field[NDArray[np.int32], ArrayLike]
    mesh_vert: Field[NDArray[np.float32], ArrayLike]
    mesh_vertadr: Field[NDArray[np.int32], ArrayLike]
    mesh_vertnum: Field[NDArray[np.int32], ArrayLike]
    @property
    def nB(self) -> int: ...
    @property
    def nC(self) -> int: ...
    @property
    def nD(self) -> int: ...
    @property
    def nJfe(self) -> int: ...
    @property
    def nJmom(self) -> int: ...
    @property
    def nJten(self) -> int: ...
    @property
    def nM(self) -> int: ...
    @property
    def na(self) -> int: ...
    @property
    def nactuator(self) -> int: ...
    name_actuatoradr: Field[NDArray[np.int32], ArrayLike]
    name_bodyadr: Field[NDArray[np.int32], ArrayLike]
    name_camadr: Field[NDArray[np.int32], ArrayLike]
    name_eqadr: Field[NDArray[np.int32], ArrayLike]
    name_excludeadr: Field[NDArray[np.int32], ArrayLike]
    name_flexadr: Field[NDArray[np.int32], ArrayLike]
    name_geomadr: Field[NDArray[np.int32], ArrayLike]
    name_hfieldadr: Field[NDArray[np.int32], ArrayLike]
    name_jntadr: Field[NDArray[np.int32], ArrayLike]
    name_keyadr: Field[NDArray[np.int32], ArrayLike]
    name_lightadr: Field[NDArray[np.int32], ArrayLike]
    name_matadr: Field[NDArray[np.int32], ArrayLike]
    name_meshadr: Field[NDArray[np.int32], ArrayLike]
    name_numericadr: Field[NDArray[np.int32], ArrayLike]
    name_pairadr: Field[NDArray[np.int32], ArrayLike]
    name_pluginadr: Field[NDArray[np.int32], ArrayLike]
    name_sensoradr: Field[NDArray[np.int32], ArrayLike]
    name_siteadr: Field[NDArray[np.int32], ArrayLike]
    name_skinadr: Field[NDArray[np.int32], ArrayLike]
    name_tendonadr: Field[NDArray[np.int32], ArrayLike]
    name_texadr: Field[NDArray[np.int32], ArrayLike]
    name_textadr: Field[NDArray[np.int32], ArrayLike]
    name_tupleadr: Field[NDArray[np.int32], ArrayLike]
    @property
    def names(self) -> bytes: ...
    names_map: Field[NDArray[np.int32], ArrayLike]
    @property
    def narena(self) -> int: ...
    @property
    def nbody(self) -> int: ...
    @property
    def nbuffer(self) -> int: ...
    @property
    def nbvh(self) -> int: ...
    @property
    def nbvhdynamic(self) -> int: ...
    @property
    def nbvhstatic(self) -> int: ...
    @property
    def ncam(self) -> int: ...
    @property
    def nconmax(self) -> int: ...
    @property
    def nefm0L(self) -> int: ...
    @property
    def nefm0dof(self) -> int: ...
    @property
    def nefmCvert(self) -> int: ...
    @property
    def nemax(self) -> int: ...
    @property
    def neq(self) -> int: ...
    @property
    def nexclude(self) -> int: ...
    @property
    def nflex(self) -> int: ...
    @property
    def nflexbending(self) -> int: ...
    @property
    def nflexedge(self) -> int: ...
    @property
    def nflexelem(self) -> int: ...
    @property
    def nflexelemdata(self) -> int: ...
    @property
    def nflexelemedge(self) -> int: ...
    @property
    def nflexnode(self) -> int: ...
    @property
    def nflexshelldata(self) -> int: ...
    @property
    def nflexstiffness(self) -> int: ...
    @property
    def nflextexcoord(self) -> int: ...
    @property
    def nflexvert(self) -> int: ...
    @property
    def ngeom(self) -> int: ...
    @property
    def ngravcomp(self) -> int: ...
    @property
    def nhfield(self) -> int: ...
    @property
    def nhfielddata(self) -> int: ...
    @property
    def nhistory(self) -> int: ...
    @property
    def njmax(self) -> int: ...
    @property
    def njnt(self) -> int: ...
    @property
    def nkey(self) -> int: ...
    @property
    def nlight(self) -> int: ...
    @property
    def nmat(self) -> int: ...
    @property
    def nmesh(self) -> int: ...
    @property
    def nmeshdegmax(self) -> int: ...
    @property
    def nmeshface(self) -> int: ...
    @property
    def nmeshgraph(self) -> int: ...
    @property
    def nmeshnormal(self) -> int: ...
    @property
    def nmeshpoly(self) -> int: ...
    @property
    def nmeshpolymap(self) -> int: ...
    @property
    def nmeshpolyvert(self) -> int: ...
    @property
    def nmeshtexcoord(self) -> int: ...
    @property
    def nmeshvert(self) -> int: ...
    @property
    def nmocap(self) -> int: ...
    @property
    def nnames(self) -> int: ...
    @property
    def nnames_map(self) -> int: ...
    @property
    def nnumeric(self) -> int: ...
    @property
    def nnumericdata(self) -> int: ...
    @property
    def noct(self) -> int: ...
    @property
    def nout(self) -> int: ...
    @property
    def npair(self) -> int: ...
    @property
    def npaths(self) -> int: ...
    @property
    def nplastic(self) -> int: ...
    @property
    def nplugin(self) -> int: ...
    @property
    def npluginattr(self) -> int: ...
    @property
    def npluginstate(self) -> int: ...
    @property
    def npolygonmax(self) -> int: ...
    @property
    def nq(self) -> int: ...
    @property
    def nsensor(self) -> int: ...
    @property
    def nsensordata(self) -> int: ...
    @property
    def nsite(self) -> int: ...
    @property
    def nskin(self) -> int: ...
    @property
    def nskinbone(self) -> int: ...
    @property
    def nskinbonevert(self) -> int: ...
    @property
    def nskinface(self) -> int: ...
    @property
    def nskintexvert(self) -> int: ...
    @property
    def nskinvert(self) -> int: ...
    @property
    def ntendon(self) -> int: ...
    @property
    def ntex(self) -> int: ...
    @property
    def ntexdata(self) -> int: ...
    @property
    def ntext(self) -> int: ...
    @property
    def ntextdata(self) -> int: ...
    @property
    def ntree(self) -> int: ...
    @property
    def ntuple(self) -> int: ...
    @property
    def ntupledata(self) -> int: ...
    @property
    def nu(self) -> int: ...
    @overload
    def numeric(self, arg0: Integer) -> _MjModelNumericViews: ...
    @overload
    def numeric(self, name: str = ...) -> _MjModelNumericViews: ...
    numeric_adr: Field[NDArray[np.int32], ArrayLike]
    numeric_data: Field[NDArray[np.float64], ArrayLike]
    numeric_size: Field[NDArray[np.int32], ArrayLike]
    @property
    def nuser_actuator(self) -> int: ...
    @property
    def nuser_body(self) -> int: ...
    @property
    def nuser_cam(self) -> int: ...
    @property
    def nuser_geom(self) -> int: ...
    @property
    def nuser_jnt(self) -> int: ...
    @property
    def nuser_sensor(self) -> int: ...
    @property
    def nuser_site(self) -> int: ...
    @property
    def nuser_tendon(self) -> int: ...
    @property
    def nuserdata(self) -> int: ...
    @property
    def nv(self) -> int: ...
    @property
    def nwrap(self) -> int: ...
    oct_aabb: Field[NDArray[np.float64], ArrayLike]
    oct_child: Field[NDArray[np.int32], ArrayLike]
    oct_coeff: Field[NDArray[np.float64], ArrayLike]
    oct_depth: Field[NDArray[np.int32], ArrayLike]
    opt: MjOption
    @overload
    def pair(self, arg0: Integer) -> _MjModelPairViews: ...
    @overload
    def pair(self, name: str = ...) -> _MjModelPairViews: ...
    pair_adhesion: Field[NDArray[np.float64], ArrayLike]
    pair_dim: Field[NDArray[np.int32], ArrayLike]
    pair_friction: Field[NDArray[np.float64], ArrayLike]
    pair_gap: Field[NDArray[np.float64], ArrayLike]
    pair_geom1: Field[NDArray[np.int32], ArrayLike]
    pair_geom2: Field[NDArray[np.int32], ArrayLike]
    pair_margin: Field[NDArray[np.float64], ArrayLike]
    pair_signature: Field[NDArray[np.int32], ArrayLike]
    pair_solimp: Field[NDArray[np.float64], ArrayLike]
    pair_solref: Field[NDArray[np.float64], ArrayLike]
    pair_solreffriction: Field[NDArray[np.float64], ArrayLike]
    @property
    def paths(self) -> bytes: ...
    plugin: Field[NDArray[np.int32], ArrayLike]
    plugin_attr: Field[NDArray[np.int8], ArrayLike]
    plugin_attradr: Field[NDArray[np.int32], ArrayLike]
    plugin_stateadr: Field[NDArray[np.int32], ArrayLike]
    plugin_statenum: Field[NDArray[np.int32], ArrayLike]
    qpos0: Field[NDArray[np.float64], ArrayLike]
    qpos_spring: Field[NDArray[np.float64], ArrayLike]
    @overload
    def sensor(self, arg0: Integer) -> _MjModelSensorViews: ...
    @overload
    def sensor(self, name: str = ...) -> _MjModelSensorViews: ...
    sensor_adr: Field[NDArray[np.int32], ArrayLike]
    sensor_cutoff: Field[NDArray[np.float64], ArrayLike]
    sensor_datatype: Field[NDArray[np.int32], ArrayLike]
    sensor_delay: Field[NDArray[np.float64], ArrayLike]
    sensor_dim: Field[NDArray[np.int32], ArrayLike]
    sensor_history: Field[NDArray[np.int32], ArrayLike]
    sensor_historyadr: Field[NDArray[np.int32], ArrayLike]
    sensor_interval: Field[NDArray[np.float64], ArrayLike]
    sensor_intprm: Field[NDArray[np.int32], ArrayLike]
    sensor_needstage: Field[NDArray[np.int32], ArrayLike]
    sensor_noise: Field[NDArray[np.float64], ArrayLike]
    sensor_objid: Field[NDArray[np.int32], ArrayLike]
    sensor_objtype: Field[NDArray[np.int32], ArrayLike]
    sensor_plugin: Field[NDArray[np.int32], ArrayLike]
    sensor_refid: Field[NDArray[np.int32], ArrayLike]
    sensor_reftype: Field[NDArray[np.int32], ArrayLike]
    sensor_type: Field[NDArray[np.int32], ArrayLike]
    sensor_user: Field[NDArray[np.float64], ArrayLike]
    @property
    def signature(self) -> int: ...
    @overload
    def site(self, arg0: Integer) -> _MjModelSiteViews: ...
    @overload
    def site(self, name: str = ...) -> _MjModelSiteViews: ...
    site_bodyid: Field[NDArray[np.int32], ArrayLike]
    site_dataid: Field[NDArray[np.int32], ArrayLike]
    site_group: Field[NDArray[np.int32], ArrayLike]
    site_matid: Field[NDArray[np.int32], ArrayLike]
    site_pos: Field[NDArray[np.float64], ArrayLike]
    site_quat: Field[NDArray[np.float64], ArrayLike]
    site_rgba: Field[NDArray[np.float32], ArrayLike]
    site_sameframe: Field[NDArray[np.uint8], ArrayLike]
    site_size: Field[NDArray[np.float64], ArrayLike]
    site_type: Field[NDArray[np.int32], ArrayLike]
    site_user: Field[NDArray[np.float64], ArrayLike]
    @overload
    def skin(self, arg0: Integer) -> _MjModelSkinViews: ...
    @overload
    def skin(self, name: str = ...) -> _MjModelSkinViews: ...
    skin_boneadr: Field[NDArray[np.int32], ArrayLike]
    skin_bonebindpos: Field[NDArray[np.float32], ArrayLike]
    skin_bonebindquat: Field[NDArray[np.float32], ArrayLike]
    skin_bonebodyid: Field[NDArray[np.int32], ArrayLike]
    skin_bonenum: Field[NDArray[np.int32], ArrayLike]
    skin_bonevertadr: Field[NDArray[np.int32], ArrayLike]
    skin_bonevertid: Field[NDArray[np.int32], ArrayLike]
    skin_bonevertnum: Field[NDArray[np.int32], ArrayLike]
    skin_bonevertweight: Field[NDArray[np.float32], ArrayLike]
    skin_face: Field[NDArray[np.int32], ArrayLike]
    skin_faceadr: Field[NDArray[np.int32], ArrayLike]
    skin_facenum: Field[NDArray[np.int32], ArrayLike]
    skin_group: Field[NDArray[np.int32], ArrayLike]
    skin_inflate: Field[NDArray[np.float32], ArrayLike]
    skin_matid: Field[NDArray[np.int32], ArrayLike]
    skin_pathadr: Field[NDArray[np.int32], ArrayLike]
    skin_rgba: Field[NDArray[np.float32], ArrayLike]
    skin_texcoord: Field[NDArray[np.float32], ArrayLike]
    skin_texcoordadr: Field[NDArray[np.int32], ArrayLike]
    skin_vert: Field[NDArray[np.float32], ArrayLike]
    skin_vertadr: Field[NDArray[np.int32], ArrayLike]
    skin_vertnum: Field[NDArray[np.int32], ArrayLike]
    stat: MjStatistic
    ten_J_colind: Field[NDArray[np.int32], ArrayLike]
    ten_J_rowadr: Field[NDArray[np.int32], ArrayLike]
    ten_J_rownnz: Field[NDArray[np.int32], ArrayLike]
    @overload
    def tendon(self, arg0: Integer) -> _MjModelTendonViews: ...
    @overload
    def tendon(self, name: str = ...) -> _MjModelTendonViews: ...
    tendon_actfrclimited: Field[NDArray[np.bool], ArrayLike]
    tendon_actfrcrange: Field[NDArray[np.float64], ArrayLike]
    tendon_actuatorid: Field[NDArray[np.int32], ArrayLike]
    tendon_adr: Field[NDArray[np.int32], ArrayLike]
    tendon_armature: Field[NDArray[np.float64], ArrayLike]
    tendon_damping: Field[NDArray[np.float64], ArrayLike]
    tendon_dampingpoly: Field[NDArray[np.float64], ArrayLike]
    tendon_frictionloss: Field[NDArray[np.float64], ArrayLike]
    tendon_group: Field[NDArray[np.int32], ArrayLike]
    tendon_invweight0: Field[NDArray[np.float64], ArrayLike]
    tendon_length0: Field[NDArray[np.float64], ArrayLike]
    tendon_lengthspring: Field[NDArray[np.float64], ArrayLike]
    tendon_limited: Field[NDArray[np.bool], ArrayLike]
    tendon_margin: Field[NDArray[np.float64], ArrayLike]
    tendon_matid: Field[NDArray[np.int32], ArrayLike]
    tendon_num: Field[NDArray[np.int32], ArrayLike]
    tendon_plasticadr: Field[NDArray[np.int32], ArrayLike]
    tendon_range: Field[NDArray[np.float64], ArrayLike]
    tendon_rgba: Field[NDArray[np.float32], ArrayLike]
    tendon_solimp_fri: Field[NDArray[np.float64], ArrayLike]
    tendon_solimp_lim: Field[NDArray[np.float64], ArrayLike]
    tendon_solref_fri: Field[NDArray[np.float64], ArrayLike]
    tendon_solref_lim: Field[NDArray[np.float64], ArrayLike]
    tendon_springyield: Field[NDArray[np.float64], ArrayLike]
    tendon_stiffness: Field[NDArray[np.float64], ArrayLike]
    tendon_stiffnesspoly: Field[NDArray[np.float64], ArrayLike]
    tendon_treeid: Field[NDArray[np.int32], ArrayLike]
    tendon_treenum: Field[NDArray[np.int32], ArrayLike]
    tendon_type: Field[NDArray[np.int32], ArrayLike]
    tendon_user: Field[NDArray[np.float64], ArrayLike]
    tendon_width: Field[NDArray[np.float64], ArrayLike]
    @overload
    def tex(self, arg0: Integer) -> _MjModelTextureViews: ...
    @overload
    def tex(self, name: str = ...) -> _MjModelTextureViews: ...
    tex_adr: Field[NDArray[np.int64], ArrayLike]
    tex_colorspace: Field[NDArray[np.int32], ArrayLike]
    tex_contenttypeadr: Field[NDArray[np.int32], ArrayLike]
    tex_data: Field[NDArray[np.uint8], ArrayLike]
    tex_height: Field[NDArray[np.int32], ArrayLike]
    tex_nchannel: Field[NDArray[np.int32], ArrayLike]
    tex_pathadr: Field[NDArray[np.int32], ArrayLike]
    tex_type: Field[NDArray[np.int32], ArrayLike]
    tex_width: Field[NDArray[np.int32], ArrayLike]
    text_adr: Field[NDArray[np.int32], ArrayLike]
    @property
    def text_data(self) -> bytes: ...
    text_size: Field[NDArray[np.int32], ArrayLike]
    @overload
    def texture(self, arg0: Integer) -> _MjModelTextureViews: ...
    @overload
    def texture(self, name: str = ...) -> _MjModelTextureViews: ...
    tree_bodyadr: Field[NDArray[np.int32], ArrayLike]
    tree_bodynum: Field[NDArray[np.int32], ArrayLike]
    tree_dofadr: Field[NDArray[np.int32], ArrayLike]
    tree_dofnum: Field[NDArray[np.int32], ArrayLike]
    tree_sleep_policy: Field[NDArray[np.int32], ArrayLike]
    @overload
    def tuple(self, arg0: Integer) -> _MjModelTupleViews: ...
    @overload
    def tuple(self, name: str = ...) -> _MjModelTupleViews: ...
    tuple_adr: Field[NDArray[np.int32], ArrayLike]
    tuple_objid: Field[NDArray[np.int32], ArrayLike]
    tuple_objprm: Field[NDArray[np.float64], ArrayLike]
    tuple_objtype: Field[NDArray[np.int32], ArrayLike]
    tuple_size: Field[NDArray[np.int32], ArrayLike]
    vis: MjVisual
    wrap_objid: Field[NDArray[np.int32], ArrayLike]
    wrap_prm: Field[NDArray[np.float64], ArrayLike]
    wrap_type: Field[NDArray[np.int32], ArrayLike]

class MjOption:
    def __copy__(self) -> MjOption: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjOption: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    _all_fields: ClassVar[tuple[Any, ...]]
    _float_fields: ClassVar[tuple[Any, ...]]
    _floatarray_fields: ClassVar[tuple[Any, ...]]
    _int_fields: ClassVar[tuple[Any, ...]]
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

class MjPreContact:
    def __copy__(self) -> MjPreContact: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjPreContact: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    dist: Field[float, Real]
    normal: Field[NDArray[np.float64], ArrayLike]
    pos: Field[NDArray[np.float64], ArrayLike]
    tangent: Field[NDArray[np.float64], ArrayLike]

class MjSolverStat:
    def __copy__(self) -> MjSolverStat: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjSolverStat: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    gradient: Field[float, Real]
    improvement: Field[float, Real]
    lineslope: Field[float, Real]
    nactive: Field[int, Integer]
    nchange: Field[int, Integer]
    neval: Field[int, Integer]
    nupdate: Field[int, Integer]

class MjStatistic:
    def __copy__(self) -> MjStatistic: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjStatistic: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    center: Field[NDArray[np.float64], ArrayLike]
    extent: Field[float, Real]
    meaninertia: Field[float, Real]
    meanmass: Field[float, Real]
    meansize: Field[float, Real]

class MjTimerStat:
    def __copy__(self) -> MjTimerStat: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjTimerStat: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    duration: Field[float, Real]
    number: Field[int, Integer]

class MjVisual:
    class Global:
        def __copy__(self) -> MjVisual.Global: ...
        def __deepcopy__(self, arg0: dict[Any, Any]) -> MjVisual.Global: ...
        def __eq__(self, other: object, /) -> bool: ...
        __hash__: ClassVar[None]  # type: ignore[assignment]
        def __repr__(self) -> str: ...
        azimuth: Field[float, Real]
        bvactive: Field[int, Integer]
        cameraid: Field[int, Integer]
        elevation: Field[float, Real]
        ellipsoidinertia: Field[int, Integer]
        fovy: Field[float, Real]
        glow: Field[float, Real]
        ipd: Field[float, Real]
        linewidth: Field[float, Real]
        offheight: Field[int, Integer]
        offwidth: Field[int, Integer]
        orthographic: Field[int, Integer]
        realtime: Field[float, Real]
    class Headlight:
        def __copy__(self) -> MjVisual.Headlight: ...
        def __deepcopy__(self, arg0: dict[Any, Any]) -> MjVisual.Headlight: ...
        def __eq__(self, other: object, /) -> bool: ...
        __hash__: ClassVar[None]  # type: ignore[assignment]
        def __repr__(self) -> str: ...
        active: Field[int, Integer]
        ambient: Field[NDArray[np.float32], ArrayLike]
        diffuse: Field[NDArray[np.float32], ArrayLike]
        specular: Field[NDArray[np.float32], ArrayLike]
    class Map:
        def __copy__(self) -> MjVisual.Map: ...
        def __deepcopy__(self, arg0: dict[Any, Any]) -> MjVisual.Map: ...
        def __eq__(self, other: object, /) -> bool: ...
        __hash__: ClassVar[None]  # type: ignore[assignment]
        def __repr__(self) -> str: ...
        actuatortendon: Field[float, Real]
        alpha: Field[float, Real]
        fogend: Field[float, Real]
        fogstart: Field[float, Real]
        force: Field[float, Real]
        haze: Field[float, Real]
        shadowclip: Field[float, Real]
        shadowscale: Field[float, Real]
        stiffness: Field[float, Real]
        stiffnessrot: Field[float, Real]
        torque: Field[float, Real]
        zfar: Field[float, Real]
        znear: Field[float, Real]
    class Quality:
        def __copy__(self) -> MjVisual.Quality: ...
        def __deepcopy__(self, arg0: dict[Any, Any]) -> MjVisual.Quality: ...
        def __eq__(self, other: object, /) -> bool: ...
        __hash__: ClassVar[None]  # type: ignore[assignment]
        def __repr__(self) -> str: ...
        numquads: Field[int, Integer]
        numslices: Field[int, Integer]
        numstacks: Field[int, Integer]
        offsamples: Field[int, Integer]
        shadowsize: Field[int, Integer]
    class Rgba:
        def __copy__(self) -> MjVisual.Rgba: ...
        def __deepcopy__(self, arg0: dict[Any, Any]) -> MjVisual.Rgba: ...
        def __eq__(self, other: object, /) -> bool: ...
        __hash__: ClassVar[None]  # type: ignore[assignment]
        def __repr__(self) -> str: ...
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
    class Scale:
        def __copy__(self) -> MjVisual.Scale: ...
        def __deepcopy__(self, arg0: dict[Any, Any]) -> MjVisual.Scale: ...
        def __eq__(self, other: object, /) -> bool: ...
        __hash__: ClassVar[None]  # type: ignore[assignment]
        def __repr__(self) -> str: ...
        actuatorlength: Field[float, Real]
        actuatorwidth: Field[float, Real]
        camera: Field[float, Real]
        com: Field[float, Real]
        connect: Field[float, Real]
        constraint: Field[float, Real]
        contactheight: Field[float, Real]
        contactwidth: Field[float, Real]
        forcewidth: Field[float, Real]
        framelength: Field[float, Real]
        framewidth: Field[float, Real]
        frustum: Field[float, Real]
        jointlength: Field[float, Real]
        jointwidth: Field[float, Real]
        light: Field[float, Real]
        selectpoint: Field[float, Real]
        slidercrank: Field[float, Real]
    def __copy__(self) -> MjVisual: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjVisual: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __repr__(self) -> str: ...
    global_: MjVisual.Global
    headlight: MjVisual.Headlight
    map: MjVisual.Map
    quality: MjVisual.Quality
    rgba: MjVisual.Rgba
    scale: MjVisual.Scale

class MjWarningStat:
    def __copy__(self) -> MjWarningStat: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjWarningStat: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    lastinfo: Field[int, Integer]
    number: Field[int, Integer]

class MjrRect:
    def __copy__(self) -> MjrRect: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjrRect: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self, left: Integer, bottom: Integer, width: Integer, height: Integer) -> None: ...
    def __repr__(self) -> str: ...
    bottom: Field[int, Integer]
    height: Field[int, Integer]
    left: Field[int, Integer]
    width: Field[int, Integer]

class MjrVertexAttribute:
    def __copy__(self) -> MjrVertexAttribute: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjrVertexAttribute: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self, usage: Integer = ..., type: Integer = ...) -> None: ...
    def __repr__(self) -> str: ...
    type: Field[int, Integer]
    usage: Field[int, Integer]

class MjvCamera:
    def __copy__(self) -> MjvCamera: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjvCamera: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    azimuth: Field[float, Real]
    distance: Field[float, Real]
    elevation: Field[float, Real]
    fixedcamid: Field[int, Integer]
    lookat: Field[NDArray[np.float64], ArrayLike]
    orthographic: Field[int, Integer]
    trackbodyid: Field[int, Integer]
    type: Field[int, Integer]

class MjvFigure:
    def __copy__(self) -> MjvFigure: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjvFigure: ...
    def __init__(self) -> None: ...
    figurergba: Field[NDArray[np.float32], ArrayLike]
    flg_barplot: Field[int, Integer]
    flg_extend: Field[int, Integer]
    flg_legend: Field[int, Integer]
    flg_selection: Field[int, Integer]
    flg_symmetric: Field[int, Integer]
    flg_ticklabel: Field[NDArray[np.int32], ArrayLike]
    gridrgb: Field[NDArray[np.float32], ArrayLike]
    gridsize: Field[NDArray[np.int32], ArrayLike]
    gridwidth: Field[float, Real]
    highlight: Field[NDArray[np.int32], ArrayLike]
    highlightid: Field[int, Integer]
    legendoffset: Field[int, Integer]
    legendrgba: Field[NDArray[np.float32], ArrayLike]
    linedata: Field[NDArray[np.float32], ArrayLike]
    @property
    def linename(self) -> NDArray[Any]: ...
    linepnt: Field[NDArray[np.int32], ArrayLike]
    linergb: Field[NDArray[np.float32], ArrayLike]
    linewidth: Field[float, Real]
    minwidth: str
    panergba: Field[NDArray[np.float32], ArrayLike]
    range: Field[NDArray[np.float32], ArrayLike]
    selection: Field[float, Real]
    subplot: Field[int, Integer]
    textrgb: Field[NDArray[np.float32], ArrayLike]
    title: str
    xaxisdata: Field[NDArray[np.float32], ArrayLike]
    xaxispixel: Field[NDArray[np.int32], ArrayLike]
    xformat: str
    xlabel: str
    yaxisdata: Field[NDArray[np.float32], ArrayLike]
    yaxispixel: Field[NDArray[np.int32], ArrayLike]
    yformat: str

class MjvGLCamera:
    def __copy__(self) -> MjvGLCamera: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjvGLCamera: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    forward: Field[NDArray[np.float32], ArrayLike]
    frustum_bottom: Field[float, Real]
    frustum_center: Field[float, Real]
    frustum_far: Field[float, Real]
    frustum_near: Field[float, Real]
    frustum_top: Field[float, Real]
    frustum_width: Field[float, Real]
    orthographic: Field[int, Integer]
    pos: Field[NDArray[np.float32], ArrayLike]
    up: Field[NDArray[np.float32], ArrayLike]

class MjvGeom:
    def __copy__(self) -> MjvGeom: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjvGeom: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    camdist: Field[float, Real]
    castshadow: Field[int, Integer]
    category: Field[int, Integer]
    dataid: Field[int, Integer]
    emission: Field[float, Real]
    label: str
    mat: Field[NDArray[np.float32], ArrayLike]
    matid: Field[int, Integer]
    modelrbound: Field[float, Real]
    objid: Field[int, Integer]
    objtype: Field[int, Integer]
    pos: Field[NDArray[np.float32], ArrayLike]
    reflectance: Field[float, Real]
    rgba: Field[NDArray[np.float32], ArrayLike]
    segid: Field[int, Integer]
    shininess: Field[float, Real]
    size: Field[NDArray[np.float32], ArrayLike]
    specular: Field[float, Real]
    texcoord: Field[int, Integer]
    texid: Field[int, Integer]
    texrepeat: Field[NDArray[np.float32], ArrayLike]
    texuniform: Field[int, Integer]
    transparent: Field[int, Integer]
    type: Field[int, Integer]

class MjvLight:
    def __copy__(self) -> MjvLight: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjvLight: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    ambient: Field[NDArray[np.float32], ArrayLike]
    attenuation: Field[NDArray[np.float32], ArrayLike]
    bulbradius: Field[float, Real]
    castshadow: Field[int, Integer]
    cutoff: Field[float, Real]
    diffuse: Field[NDArray[np.float32], ArrayLike]
    dir: Field[NDArray[np.float32], ArrayLike]
    exponent: Field[float, Real]
    headlight: Field[int, Integer]
    id: Field[int, Integer]
    intensity: Field[float, Real]
    pos: Field[NDArray[np.float32], ArrayLike]
    range: Field[float, Real]
    softness: Field[float, Real]
    specular: Field[NDArray[np.float32], ArrayLike]
    texid: Field[int, Integer]
    type: Field[int, Integer]

class MjvOption:
    def __copy__(self) -> MjvOption: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjvOption: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    actuatorgroup: Field[NDArray[np.uint8], ArrayLike]
    bvh_depth: Field[int, Integer]
    flags: Field[NDArray[np.uint8], ArrayLike]
    flex_layer: Field[int, Integer]
    flexgroup: Field[NDArray[np.uint8], ArrayLike]
    frame: Field[int, Integer]
    geomgroup: Field[NDArray[np.uint8], ArrayLike]
    jointgroup: Field[NDArray[np.uint8], ArrayLike]
    label: Field[int, Integer]
    sitegroup: Field[NDArray[np.uint8], ArrayLike]
    skingroup: Field[NDArray[np.uint8], ArrayLike]
    tendongroup: Field[NDArray[np.uint8], ArrayLike]

class MjvPerturb:
    def __copy__(self) -> MjvPerturb: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjvPerturb: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    active: Field[int, Integer]
    active2: Field[int, Integer]
    flexselect: Field[int, Integer]
    localmass: Field[float, Real]
    localpos: Field[NDArray[np.float64], ArrayLike]
    refpos: Field[NDArray[np.float64], ArrayLike]
    refquat: Field[NDArray[np.float64], ArrayLike]
    refselpos: Field[NDArray[np.float64], ArrayLike]
    scale: Field[float, Real]
    select: Field[int, Integer]
    skinselect: Field[int, Integer]

class MjvScene:
    def __copy__(self) -> MjvScene: ...
    def __deepcopy__(self, arg0: dict[Any, Any]) -> MjvScene: ...
    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, model: MjModel, maxgeom: Integer) -> None: ...
    @property
    def camera(self) -> tuple[Any, ...]: ...
    enabletransform: Field[int, Integer]
    flags: Field[NDArray[np.uint8], ArrayLike]
    flexedge: Field[NDArray[np.int32], ArrayLike]
    flexedgeadr: Field[NDArray[np.int32], ArrayLike]
    flexedgenum: Field[NDArray[np.int32], ArrayLike]
    flexedgeopt: Field[int, Integer]
    flexface: Field[NDArray[np.float32], ArrayLike]
    flexfaceadr: Field[NDArray[np.int32], ArrayLike]
    flexfacenum: Field[NDArray[np.int32], ArrayLike]
    flexfaceopt: Field[int, Integer]
    flexfaceused: Field[NDArray[np.int32], ArrayLike]
    flexnormal: Field[NDArray[np.float32], ArrayLike]
    flexskinopt: Field[int, Integer]
    flextexcoord: Field[NDArray[np.float32], ArrayLike]
    flexvert: Field[NDArray[np.float32], ArrayLike]
    flexvertadr: Field[NDArray[np.int32], ArrayLike]
    flexvertnum: Field[NDArray[np.int32], ArrayLike]
    flexvertopt: Field[int, Integer]
    framergb: Field[NDArray[np.float32], ArrayLike]
    framewidth: Field[int, Integer]
    geomorder: Field[NDArray[np.int32], ArrayLike]
    @property
    def geoms(self) -> tuple[Any, ...]: ...
    @property
    def lights(self) -> tuple[Any, ...]: ...
    maxgeom: Field[int, Integer]
    nflex: Field[int, Integer]
    ngeom: Field[int, Integer]
    nlight: Field[int, Integer]
    nskin: Field[int, Integer]
    rotate: Field[NDArray[np.float32], ArrayLike]
    scale: Field[float, Real]
    skinfacenum: Field[NDArray[np.int32], ArrayLike]
    skinnormal: Field[NDArray[np.float32], ArrayLike]
    skinvert: Field[NDArray[np.float32], ArrayLike]
    skinvertadr: Field[NDArray[np.int32], ArrayLike]
    skinvertnum: Field[NDArray[np.int32], ArrayLike]
    status: Field[int, Integer]
    stereo: Field[int, Integer]
    translate: Field[NDArray[np.float32], ArrayLike]

class _MjContactList:
    @property
    def H(self) -> NDArray[np.float64]: ...
    def __eq__(self, other: object, /) -> bool: ...
    @overload
    def __getitem__(self, arg0: Integer) -> MjContact: ...
    @overload
    def __getitem__(self, arg0: slice) -> _MjContactList: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def adhesion(self) -> NDArray[np.float64]: ...
    @property
    def dim(self) -> NDArray[np.int32]: ...
    @property
    def dist(self) -> NDArray[np.float64]: ...
    @property
    def efc_address(self) -> NDArray[np.int32]: ...
    @property
    def elem(self) -> NDArray[np.int32]: ...
    @property
    def exclude(self) -> NDArray[np.int32]: ...
    @property
    def flex(self) -> NDArray[np.int32]: ...
    @property
    def frame(self) -> NDArray[np.float64]: ...
    @property
    def friction(self) -> NDArray[np.float64]: ...
    @property
    def geom(self) -> NDArray[np.int32]: ...
    @property
    def geom1(self) -> NDArray[np.int32]: ...
    @property
    def geom2(self) -> NDArray[np.int32]: ...
    @property
    def includemargin(self) -> NDArray[np.float64]: ...
    @property
    def mu(self) -> NDArray[np.float64]: ...
    @property
    def pos(self) -> NDArray[np.float64]: ...
    @property
    def solimp(self) -> NDArray[np.float64]: ...
    @property
    def solref(self) -> NDArray[np.float64]: ...
    @property
    def solreffriction(self) -> NDArray[np.float64]: ...
    @property
    def surfacevel(self) -> NDArray[np.float64]: ...
    @property
    def vert(self) -> NDArray[np.int32]: ...
    def __iter__(self) -> Iterator[MjContact]: ...

class _MjDataActuatorViews:
    def __repr__(self) -> str: ...
    ctrl: Field[NDArray[np.float64], ArrayLike]
    force: Field[NDArray[np.float64], ArrayLike]
    @property
    def id(self) -> int: ...
    length: Field[NDArray[np.float64], ArrayLike]
    @property
    def moment(self) -> NDArray[np.float64]: ...
    @property
    def name(self) -> str: ...
    velocity: Field[NDArray[np.float64], ArrayLike]

class _MjDataBodyViews:
    def __repr__(self) -> str: ...
    cacc: Field[NDArray[np.float64], ArrayLike]
    cfrc_ext: Field[NDArray[np.float64], ArrayLike]
    cfrc_int: Field[NDArray[np.float64], ArrayLike]
    cinert: Field[NDArray[np.float64], ArrayLike]
    crb: Field[NDArray[np.float64], ArrayLike]
    cvel: Field[NDArray[np.float64], ArrayLike]
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    subtree_angmom: Field[NDArray[np.float64], ArrayLike]
    subtree_com: Field[NDArray[np.float64], ArrayLike]
    subtree_linvel: Field[NDArray[np.float64], ArrayLike]
    xfrc_applied: Field[NDArray[np.float64], ArrayLike]
    ximat: Field[NDArray[np.float64], ArrayLike]
    xipos: Field[NDArray[np.float64], ArrayLike]
    xiquat: Field[NDArray[np.float64], ArrayLike]
    xmat: Field[NDArray[np.float64], ArrayLike]
    xpos: Field[NDArray[np.float64], ArrayLike]
    xquat: Field[NDArray[np.float64], ArrayLike]

class _MjDataCameraViews:
    def __repr__(self) -> str: ...
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    xmat: Field[NDArray[np.float64], ArrayLike]
    xpos: Field[NDArray[np.float64], ArrayLike]

class _MjDataGeomViews:
    def __repr__(self) -> str: ...
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    xmat: Field[NDArray[np.float64], ArrayLike]
    xpos: Field[NDArray[np.float64], ArrayLike]
    xquat: Field[NDArray[np.float64], ArrayLike]

class _MjDataJointViews:
    def __repr__(self) -> str: ...
    cdof: Field[NDArray[np.float64], ArrayLike]
    cdof_dot: Field[NDArray[np.float64], ArrayLike]
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    plastic: Field[NDArray[np.float64], ArrayLike]
    qLDiagInv: Field[NDArray[np.float64], ArrayLike]
    qacc: Field[NDArray[np.float64], ArrayLike]
    qacc_smooth: Field[NDArray[np.float64], ArrayLike]
    qacc_warmstart: Field[NDArray[np.float64], ArrayLike]
    qfrc_actuator: Field[NDArray[np.float64], ArrayLike]
    qfrc_applied: Field[NDArray[np.float64], ArrayLike]
    qfrc_bias: Field[NDArray[np.float64], ArrayLike]
    qfrc_constraint: Field[NDArray[np.float64], ArrayLike]
    qfrc_inverse: Field[NDArray[np.float64], ArrayLike]
    qfrc_passive: Field[NDArray[np.float64], ArrayLike]
    qfrc_smooth: Field[NDArray[np.float64], ArrayLike]
    qpos: Field[NDArray[np.float64], ArrayLike]
    qvel: Field[NDArray[np.float64], ArrayLike]
    xanchor: Field[NDArray[np.float64], ArrayLike]
    xaxis: Field[NDArray[np.float64], ArrayLike]

class _MjDataLightViews:
    def __repr__(self) -> str: ...
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    xdir: Field[NDArray[np.float64], ArrayLike]
    xpos: Field[NDArray[np.float64], ArrayLike]

class _MjDataSensorViews:
    def __repr__(self) -> str: ...
    data: Field[NDArray[np.float64], ArrayLike]
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...

class _MjDataSiteViews:
    def __repr__(self) -> str: ...
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    xmat: Field[NDArray[np.float64], ArrayLike]
    xpos: Field[NDArray[np.float64], ArrayLike]
    xquat: Field[NDArray[np.float64], ArrayLike]

class _MjDataTendonViews:
    def __repr__(self) -> str: ...
    @property
    def id(self) -> int: ...
    length: Field[NDArray[np.float64], ArrayLike]
    @property
    def name(self) -> str: ...
    plastic: Field[NDArray[np.float64], ArrayLike]
    velocity: Field[NDArray[np.float64], ArrayLike]
    wrapadr: Field[NDArray[np.int32], ArrayLike]
    wrapnum: Field[NDArray[np.int32], ArrayLike]

class _MjModelActuatorViews:
    def __repr__(self) -> str: ...
    acc0: Field[NDArray[np.float64], ArrayLike]
    actadr: Field[NDArray[np.int32], ArrayLike]
    actlimited: Field[NDArray[np.bool], ArrayLike]
    actnum: Field[NDArray[np.int32], ArrayLike]
    actrange: Field[NDArray[np.float64], ArrayLike]
    biasprm: Field[NDArray[np.float64], ArrayLike]
    biastype: Field[NDArray[np.int32], ArrayLike]
    cranklength: Field[NDArray[np.float64], ArrayLike]
    ctrllimited: Field[NDArray[np.bool], ArrayLike]
    ctrlrange: Field[NDArray[np.float64], ArrayLike]
    dynprm: Field[NDArray[np.float64], ArrayLike]
    dyntype: Field[NDArray[np.int32], ArrayLike]
    forcelimited: Field[NDArray[np.bool], ArrayLike]
    forcerange: Field[NDArray[np.float64], ArrayLike]
    gainprm: Field[NDArray[np.float64], ArrayLike]
    gaintype: Field[NDArray[np.int32], ArrayLike]
    gear: Field[NDArray[np.float64], ArrayLike]
    group: Field[NDArray[np.int32], ArrayLike]
    @property
    def id(self) -> int: ...
    length0: Field[NDArray[np.float64], ArrayLike]
    lengthrange: Field[NDArray[np.float64], ArrayLike]
    @property
    def name(self) -> str: ...
    trnid: Field[NDArray[np.int32], ArrayLike]
    trntype: Field[NDArray[np.int32], ArrayLike]
    user: Field[NDArray[np.float64], ArrayLike]

class _MjModelBodyViews:
    def __repr__(self) -> str: ...
    dofadr: Field[NDArray[np.int32], ArrayLike]
    dofnum: Field[NDArray[np.int32], ArrayLike]
    geomadr: Field[NDArray[np.int32], ArrayLike]
    geomnum: Field[NDArray[np.int32], ArrayLike]
    @property
    def id(self) -> int: ...
    inertia: Field[NDArray[np.float64], ArrayLike]
    invweight0: Field[NDArray[np.float64], ArrayLike]
    ipos: Field[NDArray[np.float64], ArrayLike]
    iquat: Field[NDArray[np.float64], ArrayLike]
    jntadr: Field[NDArray[np.int32], ArrayLike]
    jntnum: Field[NDArray[np.int32], ArrayLike]
    mass: Field[NDArray[np.float64], ArrayLike]
    mocapid: Field[NDArray[np.int32], ArrayLike]
    @property
    def name(self) -> str: ...
    parentid: Field[NDArray[np.int32], ArrayLike]
    pos: Field[NDArray[np.float64], ArrayLike]
    quat: Field[NDArray[np.float64], ArrayLike]
    rootid: Field[NDArray[np.int32], ArrayLike]
    sameframe: Field[NDArray[np.uint8], ArrayLike]
    simple: Field[NDArray[np.uint8], ArrayLike]
    subtreemass: Field[NDArray[np.float64], ArrayLike]
    user: Field[NDArray[np.float64], ArrayLike]
    weldid: Field[NDArray[np.int32], ArrayLike]

class _MjModelCameraViews:
    def __repr__(self) -> str: ...
    bodyid: Field[NDArray[np.int32], ArrayLike]
    fovy: Field[NDArray[np.float64], ArrayLike]
    @property
    def id(self) -> int: ...
    ipd: Field[NDArray[np.float64], ArrayLike]
    mat0: Field[NDArray[np.float64], ArrayLike]
    mode: Field[NDArray[np.int32], ArrayLike]
    @property
    def name(self) -> str: ...
    pos: Field[NDArray[np.float64], ArrayLike]
    pos0: Field[NDArray[np.float64], ArrayLike]
    poscom0: Field[NDArray[np.float64], ArrayLike]
    quat: Field[NDArray[np.float64], ArrayLike]
    targetbodyid: Field[NDArray[np.int32], ArrayLike]
    user: Field[NDArray[np.float64], ArrayLike]

class _MjModelEqualityViews:
    def __repr__(self) -> str: ...
    active0: Field[NDArray[np.bool], ArrayLike]
    data: Field[NDArray[np.float64], ArrayLike]
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    obj1id: Field[NDArray[np.int32], ArrayLike]
    obj2id: Field[NDArray[np.int32], ArrayLike]
    solimp: Field[NDArray[np.float64], ArrayLike]
    solref: Field[NDArray[np.float64], ArrayLike]
    type: Field[NDArray[np.int32], ArrayLike]

class _MjModelExcludeViews:
    def __repr__(self) -> str: ...
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    signature: Field[NDArray[np.int32], ArrayLike]

class _MjModelGeomViews:
    def __repr__(self) -> str: ...
    bodyid: Field[NDArray[np.int32], ArrayLike]
    castshadow: Field[NDArray[np.bool], ArrayLike]
    conaffinity: Field[NDArray[np.int32], ArrayLike]
    condim: Field[NDArray[np.int32], ArrayLike]
    contype: Field[NDArray[np.int32], ArrayLike]
    dataid: Field[NDArray[np.int32], ArrayLike]
    friction: Field[NDArray[np.float64], ArrayLike]
    gap: Field[NDArray[np.float64], ArrayLike]
    group: Field[NDArray[np.int32], ArrayLike]
    @property
    def id(self) -> int: ...
    margin: Field[NDArray[np.float64], ArrayLike]
    matid: Field[NDArray[np.int32], ArrayLike]
    @property
    def name(self) -> str: ...
    pos: Field[NDArray[np.float64], ArrayLike]
    priority: Field[NDArray[np.int32], ArrayLike]
    quat: Field[NDArray[np.float64], ArrayLike]
    rbound: Field[NDArray[np.float64], ArrayLike]
    rgba: Field[NDArray[np.float32], ArrayLike]
    sameframe: Field[NDArray[np.uint8], ArrayLike]
    size: Field[NDArray[np.float64], ArrayLike]
    solimp: Field[NDArray[np.float64], ArrayLike]
    solmix: Field[NDArray[np.float64], ArrayLike]
    solref: Field[NDArray[np.float64], ArrayLike]
    type: Field[NDArray[np.int32], ArrayLike]
    user: Field[NDArray[np.float64], ArrayLike]

class _MjModelHfieldViews:
    def __repr__(self) -> str: ...
    adr: Field[NDArray[np.int32], ArrayLike]
    data: Field[NDArray[np.float32], ArrayLike]
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    ncol: Field[NDArray[np.int32], ArrayLike]
    nrow: Field[NDArray[np.int32], ArrayLike]
    pathadr: Field[NDArray[np.int32], ArrayLike]
    size: Field[NDArray[np.float64], ArrayLike]

class _MjModelJointViews:
    M0: Field[NDArray[np.float64], ArrayLike]
    Madr: Field[NDArray[np.int32], ArrayLike]
    def __repr__(self) -> str: ...
    armature: Field[NDArray[np.float64], ArrayLike]
    axis: Field[NDArray[np.float64], ArrayLike]
    bodyid: Field[NDArray[np.int32], ArrayLike]
    damping: Field[NDArray[np.float64], ArrayLike]
    dampingpoly: Field[NDArray[np.float64], ArrayLike]
    dofadr: Field[NDArray[np.int32], ArrayLike]
    frictionloss: Field[NDArray[np.float64], ArrayLike]
    group: Field[NDArray[np.int32], ArrayLike]
    @property
    def id(self) -> int: ...
    invweight0: Field[NDArray[np.float64], ArrayLike]
    jntid: Field[NDArray[np.int32], ArrayLike]
    limited: Field[NDArray[np.bool], ArrayLike]
    margin: Field[NDArray[np.float64], ArrayLike]
    @property
    def name(self) -> str: ...
    parentid: Field[NDArray[np.int32], ArrayLike]
    plasticadr: Field[NDArray[np.int32], ArrayLike]
    pos: Field[NDArray[np.float64], ArrayLike]
    qpos0: Field[NDArray[np.float64], ArrayLike]
    qpos_spring: Field[NDArray[np.float64], ArrayLike]
    qposadr: Field[NDArray[np.int32], ArrayLike]
    range: Field[NDArray[np.float64], ArrayLike]
    simplenum: Field[NDArray[np.int32], ArrayLike]
    solimp: Field[NDArray[np.float64], ArrayLike]
    solref: Field[NDArray[np.float64], ArrayLike]
    springyield: Field[NDArray[np.float64], ArrayLike]
    stiffness: Field[NDArray[np.float64], ArrayLike]
    stiffnesspoly: Field[NDArray[np.float64], ArrayLike]
    type: Field[NDArray[np.int32], ArrayLike]
    user: Field[NDArray[np.float64], ArrayLike]

class _MjModelKeyframeViews:
    def __repr__(self) -> str: ...
    act: Field[NDArray[np.float64], ArrayLike]
    ctrl: Field[NDArray[np.float64], ArrayLike]
    @property
    def id(self) -> int: ...
    mpos: Field[NDArray[np.float64], ArrayLike]
    mquat: Field[NDArray[np.float64], ArrayLike]
    @property
    def name(self) -> str: ...
    plastic: Field[NDArray[np.float64], ArrayLike]
    qpos: Field[NDArray[np.float64], ArrayLike]
    qvel: Field[NDArray[np.float64], ArrayLike]
    time: Field[NDArray[np.float64], ArrayLike]

class _MjModelLightViews:
    def __repr__(self) -> str: ...
    active: Field[NDArray[np.bool], ArrayLike]
    ambient: Field[NDArray[np.float32], ArrayLike]
    attenuation: Field[NDArray[np.float32], ArrayLike]
    bodyid: Field[NDArray[np.int32], ArrayLike]
    castshadow: Field[NDArray[np.bool], ArrayLike]
    cutoff: Field[NDArray[np.float32], ArrayLike]
    diffuse: Field[NDArray[np.float32], ArrayLike]
    dir: Field[NDArray[np.float64], ArrayLike]
    dir0: Field[NDArray[np.float64], ArrayLike]
    exponent: Field[NDArray[np.float32], ArrayLike]
    @property
    def id(self) -> int: ...
    mode: Field[NDArray[np.int32], ArrayLike]
    @property
    def name(self) -> str: ...
    pos: Field[NDArray[np.float64], ArrayLike]
    pos0: Field[NDArray[np.float64], ArrayLike]
    poscom0: Field[NDArray[np.float64], ArrayLike]
    specular: Field[NDArray[np.float32], ArrayLike]
    targetbodyid: Field[NDArray[np.int32], ArrayLike]
    type: Field[NDArray[np.int32], ArrayLike]

class _MjModelMaterialViews:
    def __repr__(self) -> str: ...
    emission: Field[NDArray[np.float32], ArrayLike]
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    reflectance: Field[NDArray[np.float32], ArrayLike]
    rgba: Field[NDArray[np.float32], ArrayLike]
    shininess: Field[NDArray[np.float32], ArrayLike]
    specular: Field[NDArray[np.float32], ArrayLike]
    texid: Field[NDArray[np.int32], ArrayLike]
    texrepeat: Field[NDArray[np.float32], ArrayLike]
    texuniform: Field[NDArray[np.bool], ArrayLike]

class _MjModelMeshViews:
    def __repr__(self) -> str: ...
    faceadr: Field[NDArray[np.int32], ArrayLike]
    facenum: Field[NDArray[np.int32], ArrayLike]
    graphadr: Field[NDArray[np.int32], ArrayLike]
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    pathadr: Field[NDArray[np.int32], ArrayLike]
    texcoordadr: Field[NDArray[np.int32], ArrayLike]
    vertadr: Field[NDArray[np.int32], ArrayLike]
    vertnum: Field[NDArray[np.int32], ArrayLike]

class _MjModelNumericViews:
    def __repr__(self) -> str: ...
    adr: Field[NDArray[np.int32], ArrayLike]
    data: Field[NDArray[np.float64], ArrayLike]
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    size: Field[NDArray[np.int32], ArrayLike]

class _MjModelPairViews:
    def __repr__(self) -> str: ...
    dim: Field[NDArray[np.int32], ArrayLike]
    friction: Field[NDArray[np.float64], ArrayLike]
    gap: Field[NDArray[np.float64], ArrayLike]
    geom1: Field[NDArray[np.int32], ArrayLike]
    geom2: Field[NDArray[np.int32], ArrayLike]
    @property
    def id(self) -> int: ...
    margin: Field[NDArray[np.float64], ArrayLike]
    @property
    def name(self) -> str: ...
    signature: Field[NDArray[np.int32], ArrayLike]
    solimp: Field[NDArray[np.float64], ArrayLike]
    solref: Field[NDArray[np.float64], ArrayLike]

class _MjModelSensorViews:
    def __repr__(self) -> str: ...
    adr: Field[NDArray[np.int32], ArrayLike]
    cutoff: Field[NDArray[np.float64], ArrayLike]
    datatype: Field[NDArray[np.int32], ArrayLike]
    dim: Field[NDArray[np.int32], ArrayLike]
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    needstage: Field[NDArray[np.int32], ArrayLike]
    noise: Field[NDArray[np.float64], ArrayLike]
    objid: Field[NDArray[np.int32], ArrayLike]
    objtype: Field[NDArray[np.int32], ArrayLike]
    refid: Field[NDArray[np.int32], ArrayLike]
    reftype: Field[NDArray[np.int32], ArrayLike]
    type: Field[NDArray[np.int32], ArrayLike]
    user: Field[NDArray[np.float64], ArrayLike]

class _MjModelSiteViews:
    def __repr__(self) -> str: ...
    bodyid: Field[NDArray[np.int32], ArrayLike]
    group: Field[NDArray[np.int32], ArrayLike]
    @property
    def id(self) -> int: ...
    matid: Field[NDArray[np.int32], ArrayLike]
    @property
    def name(self) -> str: ...
    pos: Field[NDArray[np.float64], ArrayLike]
    quat: Field[NDArray[np.float64], ArrayLike]
    rgba: Field[NDArray[np.float32], ArrayLike]
    sameframe: Field[NDArray[np.uint8], ArrayLike]
    size: Field[NDArray[np.float64], ArrayLike]
    type: Field[NDArray[np.int32], ArrayLike]
    user: Field[NDArray[np.float64], ArrayLike]

class _MjModelSkinViews:
    def __repr__(self) -> str: ...
    boneadr: Field[NDArray[np.int32], ArrayLike]
    bonenum: Field[NDArray[np.int32], ArrayLike]
    faceadr: Field[NDArray[np.int32], ArrayLike]
    facenum: Field[NDArray[np.int32], ArrayLike]
    @property
    def id(self) -> int: ...
    inflate: Field[NDArray[np.float32], ArrayLike]
    matid: Field[NDArray[np.int32], ArrayLike]
    @property
    def name(self) -> str: ...
    pathadr: Field[NDArray[np.int32], ArrayLike]
    rgba: Field[NDArray[np.float32], ArrayLike]
    texcoordadr: Field[NDArray[np.int32], ArrayLike]
    vertadr: Field[NDArray[np.int32], ArrayLike]
    vertnum: Field[NDArray[np.int32], ArrayLike]

class _MjModelTendonViews:
    J_colind: Field[NDArray[np.int32], ArrayLike]
    J_rowadr: Field[NDArray[np.int32], ArrayLike]
    J_rownnz: Field[NDArray[np.int32], ArrayLike]
    def __repr__(self) -> str: ...
    _adr: Field[NDArray[np.int32], ArrayLike]
    _damping: Field[NDArray[np.float64], ArrayLike]
    _dampingpoly: Field[NDArray[np.float64], ArrayLike]
    _frictionloss: Field[NDArray[np.float64], ArrayLike]
    _group: Field[NDArray[np.int32], ArrayLike]
    _invweight0: Field[NDArray[np.float64], ArrayLike]
    _length0: Field[NDArray[np.float64], ArrayLike]
    _lengthspring: Field[NDArray[np.float64], ArrayLike]
    _limited: Field[NDArray[np.bool], ArrayLike]
    _margin: Field[NDArray[np.float64], ArrayLike]
    _matid: Field[NDArray[np.int32], ArrayLike]
    _num: Field[NDArray[np.int32], ArrayLike]
    _range: Field[NDArray[np.float64], ArrayLike]
    _rgba: Field[NDArray[np.float32], ArrayLike]
    _solimp_fri: Field[NDArray[np.float64], ArrayLike]
    _solimp_lim: Field[NDArray[np.float64], ArrayLike]
    _solref_fri: Field[NDArray[np.float64], ArrayLike]
    _solref_lim: Field[NDArray[np.float64], ArrayLike]
    _stiffness: Field[NDArray[np.float64], ArrayLike]
    _stiffnesspoly: Field[NDArray[np.float64], ArrayLike]
    _type: Field[NDArray[np.int32], ArrayLike]
    _user: Field[NDArray[np.float64], ArrayLike]
    _width: Field[NDArray[np.float64], ArrayLike]
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    plasticadr: Field[NDArray[np.int32], ArrayLike]
    springyield: Field[NDArray[np.float64], ArrayLike]

class _MjModelTextureViews:
    def __repr__(self) -> str: ...
    adr: Field[NDArray[np.int64], ArrayLike]
    colorspace: Field[NDArray[np.int32], ArrayLike]
    contenttypeadr: Field[NDArray[np.int32], ArrayLike]
    data: Field[NDArray[np.uint8], ArrayLike]
    height: Field[NDArray[np.int32], ArrayLike]
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    nchannel: Field[NDArray[np.int32], ArrayLike]
    pathadr: Field[NDArray[np.int32], ArrayLike]
    type: Field[NDArray[np.int32], ArrayLike]
    width: Field[NDArray[np.int32], ArrayLike]

class _MjModelTupleViews:
    def __repr__(self) -> str: ...
    adr: Field[NDArray[np.int32], ArrayLike]
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    objid: Field[NDArray[np.int32], ArrayLike]
    objprm: Field[NDArray[np.float64], ArrayLike]
    objtype: Field[NDArray[np.int32], ArrayLike]
    size: Field[NDArray[np.int32], ArrayLike]

class _MjSolverStatList:
    def __eq__(self, other: object, /) -> bool: ...
    @overload
    def __getitem__(self, arg0: Integer) -> MjSolverStat: ...
    @overload
    def __getitem__(self, arg0: slice) -> _MjSolverStatList: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def gradient(self) -> NDArray[np.float64]: ...
    @property
    def improvement(self) -> NDArray[np.float64]: ...
    @property
    def lineslope(self) -> NDArray[np.float64]: ...
    @property
    def nactive(self) -> NDArray[np.int32]: ...
    @property
    def nchange(self) -> NDArray[np.int32]: ...
    @property
    def neval(self) -> NDArray[np.int32]: ...
    @property
    def nupdate(self) -> NDArray[np.int32]: ...
    def __iter__(self) -> Iterator[MjSolverStat]: ...

class _MjTimerStatList:
    def __eq__(self, other: object, /) -> bool: ...
    @overload
    def __getitem__(self, arg0: Integer) -> MjTimerStat: ...
    @overload
    def __getitem__(self, arg0: _enums.mjtTimer) -> MjTimerStat: ...
    @overload
    def __getitem__(self, arg0: slice) -> _MjTimerStatList: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def duration(self) -> NDArray[np.float64]: ...
    @property
    def number(self) -> NDArray[np.int32]: ...
    def __iter__(self) -> Iterator[MjTimerStat]: ...

class _MjWarningStatList:
    def __eq__(self, other: object, /) -> bool: ...
    @overload
    def __getitem__(self, arg0: Integer) -> MjWarningStat: ...
    @overload
    def __getitem__(self, arg0: _enums.mjtWarning) -> MjWarningStat: ...
    @overload
    def __getitem__(self, arg0: slice) -> _MjWarningStatList: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def lastinfo(self) -> NDArray[np.int32]: ...
    @property
    def number(self) -> NDArray[np.int32]: ...
    def __iter__(self) -> Iterator[MjWarningStat]: ...

def _recompile_spec_addr(spec_addr: Integer, m: MjModel, d: MjData, vfs_addr: Integer = ...) -> tuple[Any, ...]: ...
def mjv_averageCamera(cam1: MjvGLCamera, cam2: MjvGLCamera) -> MjvGLCamera: ...
def mjv_camera2GLCamera(m: MjModel, d: MjData, cam: MjvCamera) -> MjvGLCamera: ...
