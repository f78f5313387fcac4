# Made by stubs/make_mujoco_stubs.py from MuJoCo 4.0.0.
# mypy: disable-error-code="misc, overload-overlap, overload-cannot-match, override"

from typing import ClassVar, Self, overload
from mujoco._stub_types import Integer, Real

class _Enum:
    @overload
    def __add__(self, arg0: Integer) -> int: ...
    @overload
    def __add__(self, arg0: Real) -> float: ...
    def __and__(self, arg0: Integer) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    @overload
    def __floordiv__(self, arg0: Integer) -> int: ...
    @overload
    def __floordiv__(self, arg0: Real) -> float: ...
    def __getstate__(self, /) -> int: ...
    def __hash__(self, /) -> int: ...
    def __index__(self, /) -> int: ...
    def __init__(self, value: Integer) -> None: ...
    def __int__(self, /) -> int: ...
    def __lshift__(self, arg0: Integer) -> int: ...
    __members__: ClassVar[dict[str, Self]]
    @overload
    def __mod__(self, arg0: Integer) -> int: ...
    @overload
    def __mod__(self, arg0: Real) -> float: ...
    @overload
    def __mul__(self, arg0: Integer) -> int: ...
    @overload
    def __mul__(self, arg0: Real) -> float: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __neg__(self) -> int: ...
    def __or__(self, arg0: Integer) -> int: ...
    @overload
    def __radd__(self, arg0: Integer) -> int: ...
    @overload
    def __radd__(self, arg0: Real) -> float: ...
    def __rand__(self, arg0: Integer) -> int: ...
    def __repr__(self, /) -> str: ...
    @overload
    def __rfloordiv__(self, arg0: Integer) -> int: ...
    @overload
    def __rfloordiv__(self, arg0: Real) -> float: ...
    @overload
    def __rmod__(self, arg0: Integer) -> int: ...
    @overload
    def __rmod__(self, arg0: Real) -> float: ...
    @overload
    def __rmul__(self, arg0: Integer) -> int: ...
    @overload
    def __rmul__(self, arg0: Real) -> float: ...
    def __ror__(self, arg0: Integer) -> int: ...
    def __rshift__(self, arg0: Integer) -> int: ...
    @overload
    def __rsub__(self, arg0: Integer) -> int: ...
    @overload
    def __rsub__(self, arg0: Real) -> float: ...
    def __rtruediv__(self, arg0: Real) -> float: ...
    def __rxor__(self, arg0: Integer) -> int: ...
    def __setstate__(self, state: Integer, /) -> None: ...
    def __str__(self, /) -> str: ...
    @overload
    def __sub__(self, arg0: Integer) -> int: ...
    @overload
    def __sub__(self, arg0: Real) -> float: ...
    def __truediv__(self, arg0: Real) -> float: ...
    def __xor__(self, arg0: Integer) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class mjrIndexType(_Enum):
    mjINDEX_TYPE_U16: ClassVar[mjrIndexType]
    mjINDEX_TYPE_U32: ClassVar[mjrIndexType]

class mjrMeshPrimitiveType(_Enum):
    mjMESH_PRIMITIVE_TYPE_LINES: ClassVar[mjrMeshPrimitiveType]
    mjMESH_PRIMITIVE_TYPE_TRIANGLES: ClassVar[mjrMeshPrimitiveType]

class mjrPixelFormat(_Enum):
    mjPIXEL_FORMAT_DEPTH32F: ClassVar[mjrPixelFormat]
    mjPIXEL_FORMAT_KTX: ClassVar[mjrPixelFormat]
    mjPIXEL_FORMAT_R32F: ClassVar[mjrPixelFormat]
    mjPIXEL_FORMAT_R8: ClassVar[mjrPixelFormat]
    mjPIXEL_FORMAT_RGB8: ClassVar[mjrPixelFormat]
    mjPIXEL_FORMAT_RGBA8: ClassVar[mjrPixelFormat]
    mjPIXEL_FORMAT_UNKNOWN: ClassVar[mjrPixelFormat]

class mjrVertexAttributeType(_Enum):
    mjVERTEX_ATTRIBUTE_TYPE_FLOAT2: ClassVar[mjrVertexAttributeType]
    mjVERTEX_ATTRIBUTE_TYPE_FLOAT3: ClassVar[mjrVertexAttributeType]
    mjVERTEX_ATTRIBUTE_TYPE_FLOAT4: ClassVar[mjrVertexAttributeType]
    mjVERTEX_ATTRIBUTE_TYPE_UBYTE4: ClassVar[mjrVertexAttributeType]

class mjrVertexAttributeUsage(_Enum):
    mjVERTEX_ATTRIBUTE_USAGE_COLOR: ClassVar[mjrVertexAttributeUsage]
    mjVERTEX_ATTRIBUTE_USAGE_NORMAL: ClassVar[mjrVertexAttributeUsage]
    mjVERTEX_ATTRIBUTE_USAGE_POSITION: ClassVar[mjrVertexAttributeUsage]
    mjVERTEX_ATTRIBUTE_USAGE_TANGENTS: ClassVar[mjrVertexAttributeUsage]
    mjVERTEX_ATTRIBUTE_USAGE_UV: ClassVar[mjrVertexAttributeUsage]

class mjtActuator(_Enum):
    mjACTUATOR_ADHESION: ClassVar[mjtActuator]
    mjACTUATOR_CYLINDER: ClassVar[mjtActuator]
    mjACTUATOR_DAMPER: ClassVar[mjtActuator]
    mjACTUATOR_DCMOTOR: ClassVar[mjtActuator]
    mjACTUATOR_GENERAL: ClassVar[mjtActuator]
    mjACTUATOR_INTVELOCITY: ClassVar[mjtActuator]
    mjACTUATOR_MOTOR: ClassVar[mjtActuator]
    mjACTUATOR_MUSCLE: ClassVar[mjtActuator]
    mjACTUATOR_ORIENTATION: ClassVar[mjtActuator]
    mjACTUATOR_PID: ClassVar[mjtActuator]
    mjACTUATOR_POSITION: ClassVar[mjtActuator]
    mjACTUATOR_VELOCITY: ClassVar[mjtActuator]

class mjtAlignFree(_Enum):
    mjALIGNFREE_AUTO: ClassVar[mjtAlignFree]
    mjALIGNFREE_FALSE: ClassVar[mjtAlignFree]
    mjALIGNFREE_TRUE: ClassVar[mjtAlignFree]

class mjtBias(_Enum):
    mjBIAS_AFFINE: ClassVar[mjtBias]
    mjBIAS_DCMOTOR: ClassVar[mjtBias]
    mjBIAS_MUSCLE: ClassVar[mjtBias]
    mjBIAS_NONE: ClassVar[mjtBias]
    mjBIAS_SO3: ClassVar[mjtBias]
    mjBIAS_USER: ClassVar[mjtBias]

class mjtBuiltin(_Enum):
    mjBUILTIN_CHECKER: ClassVar[mjtBuiltin]
    mjBUILTIN_FLAT: ClassVar[mjtBuiltin]
    mjBUILTIN_GRADIENT: ClassVar[mjtBuiltin]
    mjBUILTIN_NONE: ClassVar[mjtBuiltin]

class mjtButton(_Enum):
    mjBUTTON_LEFT: ClassVar[mjtButton]
    mjBUTTON_MIDDLE: ClassVar[mjtButton]
    mjBUTTON_NONE: ClassVar[mjtButton]
    mjBUTTON_RIGHT: ClassVar[mjtButton]

class mjtCTimer(_Enum):
    mjCTIMER_ASSETS: ClassVar[mjtCTimer]
    mjCTIMER_MESH_BVH: ClassVar[mjtCTimer]
    mjCTIMER_MESH_HULL: ClassVar[mjtCTimer]
    mjCTIMER_MESH_INERTIA: ClassVar[mjtCTimer]
    mjCTIMER_MESH_LOAD: ClassVar[mjtCTimer]
    mjCTIMER_MESH_OCTREE: ClassVar[mjtCTimer]
    mjCTIMER_MESH_POLYGON: ClassVar[mjtCTimer]
    mjCTIMER_TEXTURE: ClassVar[mjtCTimer]
    mjCTIMER_TOTAL: ClassVar[mjtCTimer]
    mjNCTIMER: ClassVar[mjtCTimer]

class mjtCamLight(_Enum):
    mjCAMLIGHT_FIXED: ClassVar[mjtCamLight]
    mjCAMLIGHT_TARGETBODY: ClassVar[mjtCamLight]
    mjCAMLIGHT_TARGETBODYCOM: ClassVar[mjtCamLight]
    mjCAMLIGHT_TRACK: ClassVar[mjtCamLight]
    mjCAMLIGHT_TRACKCOM: ClassVar[mjtCamLight]

class mjtCamOutBit(_Enum):
    mjCAMOUT_DEPTH: ClassVar[mjtCamOutBit]
    mjCAMOUT_DIST: ClassVar[mjtCamOutBit]
    mjCAMOUT_NORMAL: ClassVar[mjtCamOutBit]
    mjCAMOUT_RGB: ClassVar[mjtCamOutBit]
    mjCAMOUT_SEG: ClassVar[mjtCamOutBit]
    mjNCAMOUT: ClassVar[mjtCamOutBit]

class mjtCamera(_Enum):
    mjCAMERA_FIXED: ClassVar[mjtCamera]
    mjCAMERA_FREE: ClassVar[mjtCamera]
    mjCAMERA_TRACKING: ClassVar[mjtCamera]
    mjCAMERA_USER: ClassVar[mjtCamera]

class mjtCatBit(_Enum):
    mjCAT_ALL: ClassVar[mjtCatBit]
    mjCAT_DECOR: ClassVar[mjtCatBit]
    mjCAT_DYNAMIC: ClassVar[mjtCatBit]
    mjCAT_STATIC: ClassVar[mjtCatBit]

class mjtColorSpace(_Enum):
    mjCOLORSPACE_AUTO: ClassVar[mjtColorSpace]
    mjCOLORSPACE_LINEAR: ClassVar[mjtColorSpace]
    mjCOLORSPACE_SRGB: ClassVar[mjtColorSpace]

class mjtConDataField(_Enum):
    mjCONDATA_ANGVEL: ClassVar[mjtConDataField]
    mjCONDATA_DIST: ClassVar[mjtConDataField]
    mjCONDATA_FORCE: ClassVar[mjtConDataField]
    mjCONDATA_FOUND: ClassVar[mjtConDataField]
    mjCONDATA_LINVEL: ClassVar[mjtConDataField]
    mjCONDATA_NORMAL: ClassVar[mjtConDataField]
    mjCONDATA_POS: ClassVar[mjtConDataField]
    mjCONDATA_TANGENT: ClassVar[mjtConDataField]
    mjCONDATA_TORQUE: ClassVar[mjtConDataField]
    mjNCONDATA: ClassVar[mjtConDataField]

class mjtCone(_Enum):
    mjCONE_ELLIPTIC: ClassVar[mjtCone]
    mjCONE_PYRAMIDAL: ClassVar[mjtCone]

class mjtConflict(_Enum):
    mjCONFLICT_ERROR: ClassVar[mjtConflict]
    mjCONFLICT_MERGE: ClassVar[mjtConflict]
    mjCONFLICT_WARNING: ClassVar[mjtConflict]

class mjtConstraint(_Enum):
    mjCNSTR_CONTACT_ELLIPTIC: ClassVar[mjtConstraint]
    mjCNSTR_CONTACT_FRICTIONLESS: ClassVar[mjtConstraint]
    mjCNSTR_CONTACT_PYRAMIDAL: ClassVar[mjtConstraint]
    mjCNSTR_EQUALITY: ClassVar[mjtConstraint]
    mjCNSTR_FRICTION_DOF: ClassVar[mjtConstraint]
    mjCNSTR_FRICTION_TENDON: ClassVar[mjtConstraint]
    mjCNSTR_LIMIT_JOINT: ClassVar[mjtConstraint]
    mjCNSTR_LIMIT_TENDON: ClassVar[mjtConstraint]

class mjtConstraintState(_Enum):
    mjCNSTRSTATE_CONE: ClassVar[mjtConstraintState]
    mjCNSTRSTATE_LINEARNEG: ClassVar[mjtConstraintState]
    mjCNSTRSTATE_LINEARPOS: ClassVar[mjtConstraintState]
    mjCNSTRSTATE_QUADRATIC: ClassVar[mjtConstraintState]
    mjCNSTRSTATE_SATISFIED: ClassVar[mjtConstraintState]

class mjtCtrlChart(_Enum):
    mjCHART_EXPMAP: ClassVar[mjtCtrlChart]
    mjCHART_QUAT: ClassVar[mjtCtrlChart]

class mjtCtrlInput(_Enum):
    mjINPUT_FF: ClassVar[mjtCtrlInput]
    mjINPUT_NONE: ClassVar[mjtCtrlInput]
    mjINPUT_POS: ClassVar[mjtCtrlInput]
    mjINPUT_PRESSURE: ClassVar[mjtCtrlInput]
    mjINPUT_VEL: ClassVar[mjtCtrlInput]
    mjINPUT_VOLTAGE: ClassVar[mjtCtrlInput]

class mjtDataType(_Enum):
    mjDATATYPE_AXIS: ClassVar[mjtDataType]
    mjDATATYPE_POSITIVE: ClassVar[mjtDataType]
    mjDATATYPE_QUATERNION: ClassVar[mjtDataType]
    mjDATATYPE_REAL: ClassVar[mjtDataType]

class mjtDepthMap(_Enum):
    mjDEPTH_ZEROFAR: ClassVar[mjtDepthMap]
    mjDEPTH_ZERONEAR: ClassVar[mjtDepthMap]

class mjtDisableBit(_Enum):
    mjDSBL_ACTUATION: ClassVar[mjtDisableBit]
    mjDSBL_AUTORESET: ClassVar[mjtDisableBit]
    mjDSBL_CLAMPCTRL: ClassVar[mjtDisableBit]
    mjDSBL_CONSTRAINT: ClassVar[mjtDisableBit]
    mjDSBL_CONTACT: ClassVar[mjtDisableBit]
    mjDSBL_DAMPER: ClassVar[mjtDisableBit]
    mjDSBL_EQUALITY: ClassVar[mjtDisableBit]
    mjDSBL_EULERDAMP: ClassVar[mjtDisableBit]
    mjDSBL_FILTERPARENT: ClassVar[mjtDisableBit]
    mjDSBL_FRICTIONLOSS: ClassVar[mjtDisableBit]
    mjDSBL_GRAVITY: ClassVar[mjtDisableBit]
    mjDSBL_ISLAND: ClassVar[mjtDisableBit]
    mjDSBL_LIMIT: ClassVar[mjtDisableBit]
    mjDSBL_MIDPHASE: ClassVar[mjtDisableBit]
    mjDSBL_MULTICCD: ClassVar[mjtDisableBit]
    mjDSBL_NATIVECCD: ClassVar[mjtDisableBit]
    mjDSBL_REFSAFE: ClassVar[mjtDisableBit]
    mjDSBL_SENSOR: ClassVar[mjtDisableBit]
    mjDSBL_SPRING: ClassVar[mjtDisableBit]
    mjDSBL_WARMSTART: ClassVar[mjtDisableBit]
    mjNDISABLE: ClassVar[mjtDisableBit]

class mjtDyn(_Enum):
    mjDYN_DCMOTOR: ClassVar[mjtDyn]
    mjDYN_FILTER: ClassVar[mjtDyn]
    mjDYN_FILTEREXACT: ClassVar[mjtDyn]
    mjDYN_INTEGRATOR: ClassVar[mjtDyn]
    mjDYN_MUSCLE: ClassVar[mjtDyn]
    mjDYN_NONE: ClassVar[mjtDyn]
    mjDYN_PID: ClassVar[mjtDyn]
    mjDYN_USER: ClassVar[mjtDyn]

class mjtEmbed(_Enum):
    mjEMBED_AUTO: ClassVar[mjtEmbed]
    mjEMBED_FALSE: ClassVar[mjtEmbed]
    mjEMBED_TRUE: ClassVar[mjtEmbed]

class mjtEnableBit(_Enum):
    mjENBL_DIAGEXACT: ClassVar[mjtEnableBit]
    mjENBL_ENERGY: ClassVar[mjtEnableBit]
    mjENBL_FWDINV: ClassVar[mjtEnableBit]
    mjENBL_INVDISCRETE: ClassVar[mjtEnableBit]
    mjENBL_IPC: ClassVar[mjtEnableBit]
    mjENBL_OVERRIDE: ClassVar[mjtEnableBit]
    mjENBL_SLEEP: ClassVar[mjtEnableBit]
    mjENBL_SPECULATIVE: ClassVar[mjtEnableBit]
    mjNENABLE: ClassVar[mjtEnableBit]

class mjtEq(_Enum):
    mjEQ_CONNECT: ClassVar[mjtEq]
    mjEQ_DISTANCE: ClassVar[mjtEq]
    mjEQ_FLEX: ClassVar[mjtEq]
    mjEQ_FLEXSTRAIN: ClassVar[mjtEq]
    mjEQ_FLEXVERT: ClassVar[mjtEq]
    mjEQ_JOINT: ClassVar[mjtEq]
    mjEQ_TENDON: ClassVar[mjtEq]
    mjEQ_WELD: ClassVar[mjtEq]

class mjtEvent(_Enum):
    mjEVENT_FILESDROP: ClassVar[mjtEvent]
    mjEVENT_KEY: ClassVar[mjtEvent]
    mjEVENT_MOVE: ClassVar[mjtEvent]
    mjEVENT_NONE: ClassVar[mjtEvent]
    mjEVENT_PRESS: ClassVar[mjtEvent]
    mjEVENT_REDRAW: ClassVar[mjtEvent]
    mjEVENT_RELEASE: ClassVar[mjtEvent]
    mjEVENT_RESIZE: ClassVar[mjtEvent]
    mjEVENT_SCROLL: ClassVar[mjtEvent]

class mjtFlexSection(_Enum):
    mjFLEXSECTION_BOX: ClassVar[mjtFlexSection]
    mjFLEXSECTION_CIRCLE: ClassVar[mjtFlexSection]

class mjtFlexSelf(_Enum):
    mjFLEXSELF_AUTO: ClassVar[mjtFlexSelf]
    mjFLEXSELF_BVH: ClassVar[mjtFlexSelf]
    mjFLEXSELF_NARROW: ClassVar[mjtFlexSelf]
    mjFLEXSELF_NONE: ClassVar[mjtFlexSelf]
    mjFLEXSELF_SAP: ClassVar[mjtFlexSelf]

class mjtFont(_Enum):
    mjFONT_BIG: ClassVar[mjtFont]
    mjFONT_NORMAL: ClassVar[mjtFont]
    mjFONT_SHADOW: ClassVar[mjtFont]

class mjtFontScale(_Enum):
    mjFONTSCALE_100: ClassVar[mjtFontScale]
    mjFONTSCALE_150: ClassVar[mjtFontScale]
    mjFONTSCALE_200: ClassVar[mjtFontScale]
    mjFONTSCALE_250: ClassVar[mjtFontScale]
    mjFONTSCALE_300: ClassVar[mjtFontScale]
    mjFONTSCALE_50: ClassVar[mjtFontScale]

class mjtFrame(_Enum):
    mjFRAME_BODY: ClassVar[mjtFrame]
    mjFRAME_CAMERA: ClassVar[mjtFrame]
    mjFRAME_CONTACT: ClassVar[mjtFrame]
    mjFRAME_GEOM: ClassVar[mjtFrame]
    mjFRAME_LIGHT: ClassVar[mjtFrame]
    mjFRAME_NONE: ClassVar[mjtFrame]
    mjFRAME_SITE: ClassVar[mjtFrame]
    mjFRAME_WORLD: ClassVar[mjtFrame]
    mjNFRAME: ClassVar[mjtFrame]

class mjtFramebuffer(_Enum):
    mjFB_OFFSCREEN: ClassVar[mjtFramebuffer]
    mjFB_WINDOW: ClassVar[mjtFramebuffer]

class mjtGain(_Enum):
    mjGAIN_AFFINE: ClassVar[mjtGain]
    mjGAIN_DCMOTOR: ClassVar[mjtGain]
    mjGAIN_FIXED: ClassVar[mjtGain]
    mjGAIN_MUSCLE: ClassVar[mjtGain]
    mjGAIN_PID: ClassVar[mjtGain]
    mjGAIN_SO3: ClassVar[mjtGain]
    mjGAIN_USER: ClassVar[mjtGain]

class mjtGeom(_Enum):
    mjGEOM_ARROW: ClassVar[mjtGeom]
    mjGEOM_ARROW1: ClassVar[mjtGeom]
    mjGEOM_ARROW2: ClassVar[mjtGeom]
    mjGEOM_BOX: ClassVar[mjtGeom]
    mjGEOM_CAPSULE: ClassVar[mjtGeom]
    mjGEOM_CYLINDER: ClassVar[mjtGeom]
    mjGEOM_ELLIPSOID: ClassVar[mjtGeom]
    mjGEOM_FLEX: ClassVar[mjtGeom]
    mjGEOM_HFIELD: ClassVar[mjtGeom]
    mjGEOM_LABEL: ClassVar[mjtGeom]
    mjGEOM_LINE: ClassVar[mjtGeom]
    mjGEOM_LINEBOX: ClassVar[mjtGeom]
    mjGEOM_MESH: ClassVar[mjtGeom]
    mjGEOM_NONE: ClassVar[mjtGeom]
    mjGEOM_PLANE: ClassVar[mjtGeom]
    mjGEOM_SDF: ClassVar[mjtGeom]
    mjGEOM_SKIN: ClassVar[mjtGeom]
    mjGEOM_SPHERE: ClassVar[mjtGeom]
    mjGEOM_TRIANGLE: ClassVar[mjtGeom]
    mjNGEOMTYPES: ClassVar[mjtGeom]

class mjtGeomInertia(_Enum):
    mjINERTIA_SHELL: ClassVar[mjtGeomInertia]
    mjINERTIA_VOLUME: ClassVar[mjtGeomInertia]

class mjtGridPos(_Enum):
    mjGRID_BOTTOM: ClassVar[mjtGridPos]
    mjGRID_BOTTOMLEFT: ClassVar[mjtGridPos]
    mjGRID_BOTTOMRIGHT: ClassVar[mjtGridPos]
    mjGRID_LEFT: ClassVar[mjtGridPos]
    mjGRID_RIGHT: ClassVar[mjtGridPos]
    mjGRID_TOP: ClassVar[mjtGridPos]
    mjGRID_TOPLEFT: ClassVar[mjtGridPos]
    mjGRID_TOPRIGHT: ClassVar[mjtGridPos]

class mjtInertiaFromGeom(_Enum):
    mjINERTIAFROMGEOM_AUTO: ClassVar[mjtInertiaFromGeom]
    mjINERTIAFROMGEOM_FALSE: ClassVar[mjtInertiaFromGeom]
    mjINERTIAFROMGEOM_TRUE: ClassVar[mjtInertiaFromGeom]

class mjtIntegrator(_Enum):
    mjINT_DISCRETE: ClassVar[mjtIntegrator]
    mjINT_EULER: ClassVar[mjtIntegrator]
    mjINT_IMPLICIT: ClassVar[mjtIntegrator]
    mjINT_IMPLICITFAST: ClassVar[mjtIntegrator]
    mjINT_RK4: ClassVar[mjtIntegrator]

class mjtItem(_Enum):
    mjITEM_BUTTON: ClassVar[mjtItem]
    mjITEM_CHECKBYTE: ClassVar[mjtItem]
    mjITEM_CHECKINT: ClassVar[mjtItem]
    mjITEM_EDITFLOAT: ClassVar[mjtItem]
    mjITEM_EDITINT: ClassVar[mjtItem]
    mjITEM_EDITNUM: ClassVar[mjtItem]
    mjITEM_EDITTXT: ClassVar[mjtItem]
    mjITEM_END: ClassVar[mjtItem]
    mjITEM_RADIO: ClassVar[mjtItem]
    mjITEM_RADIOLINE: ClassVar[mjtItem]
    mjITEM_SECTION: ClassVar[mjtItem]
    mjITEM_SELECT: ClassVar[mjtItem]
    mjITEM_SEPARATOR: ClassVar[mjtItem]
    mjITEM_SLIDERINT: ClassVar[mjtItem]
    mjITEM_SLIDERNUM: ClassVar[mjtItem]
    mjITEM_STATIC: ClassVar[mjtItem]
    mjNITEM: ClassVar[mjtItem]

class mjtJacobian(_Enum):
    mjJAC_AUTO: ClassVar[mjtJacobian]
    mjJAC_DENSE: ClassVar[mjtJacobian]
    mjJAC_SPARSE: ClassVar[mjtJacobian]

class mjtJoint(_Enum):
    mjJNT_BALL: ClassVar[mjtJoint]
    mjJNT_FREE: ClassVar[mjtJoint]
    mjJNT_HINGE: ClassVar[mjtJoint]
    mjJNT_SLIDE: ClassVar[mjtJoint]

class mjtLRMode(_Enum):
    mjLRMODE_ALL: ClassVar[mjtLRMode]
    mjLRMODE_MUSCLE: ClassVar[mjtLRMode]
    mjLRMODE_MUSCLEUSER: ClassVar[mjtLRMode]
    mjLRMODE_NONE: ClassVar[mjtLRMode]

class mjtLabel(_Enum):
    mjLABEL_ACTUATOR: ClassVar[mjtLabel]
    mjLABEL_BODY: ClassVar[mjtLabel]
    mjLABEL_CAMERA: ClassVar[mjtLabel]
    mjLABEL_CONSTRAINT: ClassVar[mjtLabel]
    mjLABEL_CONTACTFORCE: ClassVar[mjtLabel]
    mjLABEL_CONTACTPOINT: ClassVar[mjtLabel]
    mjLABEL_FLEX: ClassVar[mjtLabel]
    mjLABEL_GEOM: ClassVar[mjtLabel]
    mjLABEL_ISLAND: ClassVar[mjtLabel]
    mjLABEL_JOINT: ClassVar[mjtLabel]
    mjLABEL_LIGHT: ClassVar[mjtLabel]
    mjLABEL_NONE: ClassVar[mjtLabel]
    mjLABEL_SELECTION: ClassVar[mjtLabel]
    mjLABEL_SELPNT: ClassVar[mjtLabel]
    mjLABEL_SITE: ClassVar[mjtLabel]
    mjLABEL_SKIN: ClassVar[mjtLabel]
    mjLABEL_TENDON: ClassVar[mjtLabel]
    mjNLABEL: ClassVar[mjtLabel]

class mjtLightType(_Enum):
    mjLIGHT_DIRECTIONAL: ClassVar[mjtLightType]
    mjLIGHT_IMAGE: ClassVar[mjtLightType]
    mjLIGHT_POINT: ClassVar[mjtLightType]
    mjLIGHT_SPOT: ClassVar[mjtLightType]

class mjtLimited(_Enum):
    mjLIMITED_AUTO: ClassVar[mjtLimited]
    mjLIMITED_FALSE: ClassVar[mjtLimited]
    mjLIMITED_TRUE: ClassVar[mjtLimited]

class mjtLogLevel(_Enum):
    mjLOG_DEBUG: ClassVar[mjtLogLevel]
    mjLOG_ERROR: ClassVar[mjtLogLevel]
    mjLOG_INFO: ClassVar[mjtLogLevel]
    mjLOG_WARNING: ClassVar[mjtLogLevel]

class mjtLogTopic(_Enum):
    mjNTOPIC: ClassVar[mjtLogTopic]
    mjTOPIC_NONE: ClassVar[mjtLogTopic]
    mjTOPIC_SLEEP: ClassVar[mjtLogTopic]
    mjTOPIC_TIME_CMP: ClassVar[mjtLogTopic]
    mjTOPIC_TIME_STP: ClassVar[mjtLogTopic]

class mjtMark(_Enum):
    mjMARK_CROSS: ClassVar[mjtMark]
    mjMARK_EDGE: ClassVar[mjtMark]
    mjMARK_NONE: ClassVar[mjtMark]
    mjMARK_RANDOM: ClassVar[mjtMark]

class mjtMeshBuiltin(_Enum):
    mjMESH_BUILTIN_BOX: ClassVar[mjtMeshBuiltin]
    mjMESH_BUILTIN_CONE: ClassVar[mjtMeshBuiltin]
    mjMESH_BUILTIN_CYLINDER: ClassVar[mjtMeshBuiltin]
    mjMESH_BUILTIN_DISC: ClassVar[mjtMeshBuiltin]
    mjMESH_BUILTIN_ELLIPSOID: ClassVar[mjtMeshBuiltin]
    mjMESH_BUILTIN_GRID: ClassVar[mjtMeshBuiltin]
    mjMESH_BUILTIN_HEMISPHERE: ClassVar[mjtMeshBuiltin]
    mjMESH_BUILTIN_NONE: ClassVar[mjtMeshBuiltin]
    mjMESH_BUILTIN_PLATE: ClassVar[mjtMeshBuiltin]
    mjMESH_BUILTIN_SPHERE: ClassVar[mjtMeshBuiltin]
    mjMESH_BUILTIN_SQUARE: ClassVar[mjtMeshBuiltin]
    mjMESH_BUILTIN_SUPERSPHERE: ClassVar[mjtMeshBuiltin]
    mjMESH_BUILTIN_SUPERTORUS: ClassVar[mjtMeshBuiltin]
    mjMESH_BUILTIN_WEDGE: ClassVar[mjtMeshBuiltin]

class mjtMeshInertia(_Enum):
    mjMESH_INERTIA_CONVEX: ClassVar[mjtMeshInertia]
    mjMESH_INERTIA_EXACT: ClassVar[mjtMeshInertia]
    mjMESH_INERTIA_LEGACY: ClassVar[mjtMeshInertia]
    mjMESH_INERTIA_SHELL: ClassVar[mjtMeshInertia]

class mjtMouse(_Enum):
    mjMOUSE_MOVE_H: ClassVar[mjtMouse]
    mjMOUSE_MOVE_H_REL: ClassVar[mjtMouse]
    mjMOUSE_MOVE_V: ClassVar[mjtMouse]
    mjMOUSE_MOVE_V_REL: ClassVar[mjtMouse]
    mjMOUSE_NONE: ClassVar[mjtMouse]
    mjMOUSE_ROTATE_H: ClassVar[mjtMouse]
    mjMOUSE_ROTATE_V: ClassVar[mjtMouse]
    mjMOUSE_TURN_H: ClassVar[mjtMouse]
    mjMOUSE_TURN_V: ClassVar[mjtMouse]
    mjMOUSE_ZOOM: ClassVar[mjtMouse]

class mjtObj(_Enum):
    mjNOBJECT: ClassVar[mjtObj]
    mjOBJ_ACTUATOR: ClassVar[mjtObj]
    mjOBJ_BODY: ClassVar[mjtObj]
    mjOBJ_CAMERA: ClassVar[mjtObj]
    mjOBJ_DEFAULT: ClassVar[mjtObj]
    mjOBJ_DOF: ClassVar[mjtObj]
    mjOBJ_EQUALITY: ClassVar[mjtObj]
    mjOBJ_EXCLUDE: ClassVar[mjtObj]
    mjOBJ_FLEX: ClassVar[mjtObj]
    mjOBJ_FRAME: ClassVar[mjtObj]
    mjOBJ_GEOM: ClassVar[mjtObj]
    mjOBJ_HFIELD: ClassVar[mjtObj]
    mjOBJ_JOINT: ClassVar[mjtObj]
    mjOBJ_KEY: ClassVar[mjtObj]
    mjOBJ_LIGHT: ClassVar[mjtObj]
    mjOBJ_MATERIAL: ClassVar[mjtObj]
    mjOBJ_MESH: ClassVar[mjtObj]
    mjOBJ_MODEL: ClassVar[mjtObj]
    mjOBJ_NUMERIC: ClassVar[mjtObj]
    mjOBJ_PAIR: ClassVar[mjtObj]
    mjOBJ_PLUGIN: ClassVar[mjtObj]
    mjOBJ_SENSOR: ClassVar[mjtObj]
    mjOBJ_SITE: ClassVar[mjtObj]
    mjOBJ_SKIN: ClassVar[mjtObj]
    mjOBJ_TENDON: ClassVar[mjtObj]
    mjOBJ_TEXT: ClassVar[mjtObj]
    mjOBJ_TEXTURE: ClassVar[mjtObj]
    mjOBJ_TUPLE: ClassVar[mjtObj]
    mjOBJ_UNKNOWN: ClassVar[mjtObj]
    mjOBJ_XBODY: ClassVar[mjtObj]

class mjtOrientation(_Enum):
    mjORIENTATION_AXISANGLE: ClassVar[mjtOrientation]
    mjORIENTATION_EULER: ClassVar[mjtOrientation]
    mjORIENTATION_QUAT: ClassVar[mjtOrientation]
    mjORIENTATION_XYAXES: ClassVar[mjtOrientation]
    mjORIENTATION_ZAXIS: ClassVar[mjtOrientation]

class mjtPassthrough(_Enum):
    mjPASSTHROUGH_NONE: ClassVar[mjtPassthrough]
    mjPASSTHROUGH_TEXTURES: ClassVar[mjtPassthrough]

class mjtPertBit(_Enum):
    mjPERT_ROTATE: ClassVar[mjtPertBit]
    mjPERT_TRANSLATE: ClassVar[mjtPertBit]

class mjtPluginCapabilityBit(_Enum):
    mjPLUGIN_ACTUATOR: ClassVar[mjtPluginCapabilityBit]
    mjPLUGIN_PASSIVE: ClassVar[mjtPluginCapabilityBit]
    mjPLUGIN_SDF: ClassVar[mjtPluginCapabilityBit]
    mjPLUGIN_SENSOR: ClassVar[mjtPluginCapabilityBit]

class mjtProjection(_Enum):
    mjPROJ_ORTHOGRAPHIC: ClassVar[mjtProjection]
    mjPROJ_PERSPECTIVE: ClassVar[mjtProjection]

class mjtRayDataField(_Enum):
    mjNRAYDATA: ClassVar[mjtRayDataField]
    mjRAYDATA_DEPTH: ClassVar[mjtRayDataField]
    mjRAYDATA_DIR: ClassVar[mjtRayDataField]
    mjRAYDATA_DIST: ClassVar[mjtRayDataField]
    mjRAYDATA_NORMAL: ClassVar[mjtRayDataField]
    mjRAYDATA_ORIGIN: ClassVar[mjtRayDataField]
    mjRAYDATA_POINT: ClassVar[mjtRayDataField]

class mjtRndFlag(_Enum):
    mjNRNDFLAG: ClassVar[mjtRndFlag]
    mjRND_ADDITIVE: ClassVar[mjtRndFlag]
    mjRND_CULL_FACE: ClassVar[mjtRndFlag]
    mjRND_DEPTH: ClassVar[mjtRndFlag]
    mjRND_FOG: ClassVar[mjtRndFlag]
    mjRND_HAZE: ClassVar[mjtRndFlag]
    mjRND_IDCOLOR: ClassVar[mjtRndFlag]
    mjRND_POST_PROCESSING: ClassVar[mjtRndFlag]
    mjRND_REFLECTION: ClassVar[mjtRndFlag]
    mjRND_SEGMENT: ClassVar[mjtRndFlag]
    mjRND_SHADOW: ClassVar[mjtRndFlag]
    mjRND_SKYBOX: ClassVar[mjtRndFlag]
    mjRND_WIREFRAME: ClassVar[mjtRndFlag]

class mjtSDFType(_Enum):
    mjSDFTYPE_COLLISION: ClassVar[mjtSDFType]
    mjSDFTYPE_INTERSECTION: ClassVar[mjtSDFType]
    mjSDFTYPE_MIDSURFACE: ClassVar[mjtSDFType]
    mjSDFTYPE_SINGLE: ClassVar[mjtSDFType]

class mjtSameFrame(_Enum):
    mjSAMEFRAME_BODY: ClassVar[mjtSameFrame]
    mjSAMEFRAME_BODYROT: ClassVar[mjtSameFrame]
    mjSAMEFRAME_INERTIA: ClassVar[mjtSameFrame]
    mjSAMEFRAME_INERTIAROT: ClassVar[mjtSameFrame]
    mjSAMEFRAME_NONE: ClassVar[mjtSameFrame]

class mjtScaling(_Enum):
    mjSCALING_GEOMETRY: ClassVar[mjtScaling]
    mjSCALING_SIMILAR: ClassVar[mjtScaling]

class mjtSection(_Enum):
    mjSECT_CLOSED: ClassVar[mjtSection]
    mjSECT_FIXED: ClassVar[mjtSection]
    mjSECT_OPEN: ClassVar[mjtSection]

class mjtSensor(_Enum):
    mjSENS_ACCELEROMETER: ClassVar[mjtSensor]
    mjSENS_ACTUATORFRC: ClassVar[mjtSensor]
    mjSENS_ACTUATORPOS: ClassVar[mjtSensor]
    mjSENS_ACTUATORVEL: ClassVar[mjtSensor]
    mjSENS_BALLANGVEL: ClassVar[mjtSensor]
    mjSENS_BALLQUAT: ClassVar[mjtSensor]
    mjSENS_CAMPROJECTION: ClassVar[mjtSensor]
    mjSENS_CLOCK: ClassVar[mjtSensor]
    mjSENS_CONTACT: ClassVar[mjtSensor]
    mjSENS_E_KINETIC: ClassVar[mjtSensor]
    mjSENS_E_POTENTIAL: ClassVar[mjtSensor]
    mjSENS_FORCE: ClassVar[mjtSensor]
    mjSENS_FRAMEANGACC: ClassVar[mjtSensor]
    mjSENS_FRAMEANGVEL: ClassVar[mjtSensor]
    mjSENS_FRAMELINACC: ClassVar[mjtSensor]
    mjSENS_FRAMELINVEL: ClassVar[mjtSensor]
    mjSENS_FRAMEPOS: ClassVar[mjtSensor]
    mjSENS_FRAMEQUAT: ClassVar[mjtSensor]
    mjSENS_FRAMEXAXIS: ClassVar[mjtSensor]
    mjSENS_FRAMEYAXIS: ClassVar[mjtSensor]
    mjSENS_FRAMEZAXIS: ClassVar[mjtSensor]
    mjSENS_GEOMDIST: ClassVar[mjtSensor]
    mjSENS_GEOMFROMTO: ClassVar[mjtSensor]
    mjSENS_GEOMNORMAL: ClassVar[mjtSensor]
    mjSENS_GYRO: ClassVar[mjtSensor]
    mjSENS_INSIDESITE: ClassVar[mjtSensor]
    mjSENS_JOINTACTFRC: ClassVar[mjtSensor]
    mjSENS_JOINTLIMITFRC: ClassVar[mjtSensor]
    mjSENS_JOINTLIMITPOS: ClassVar[mjtSensor]
    mjSENS_JOINTLIMITVEL: ClassVar[mjtSensor]
    mjSENS_JOINTPOS: ClassVar[mjtSensor]
    mjSENS_JOINTVEL: ClassVar[mjtSensor]
    mjSENS_MAGNETOMETER: ClassVar[mjtSensor]
    mjSENS_PLUGIN: ClassVar[mjtSensor]
    mjSENS_RANGEFINDER: ClassVar[mjtSensor]
    mjSENS_SUBTREEANGMOM: ClassVar[mjtSensor]
    mjSENS_SUBTREECOM: ClassVar[mjtSensor]
    mjSENS_SUBTREELINVEL: ClassVar[mjtSensor]
    mjSENS_TACTILE: ClassVar[mjtSensor]
    mjSENS_TENDONACTFRC: ClassVar[mjtSensor]
    mjSENS_TENDONLIMITFRC: ClassVar[mjtSensor]
    mjSENS_TENDONLIMITPOS: ClassVar[mjtSensor]
    mjSENS_TENDONLIMITVEL: ClassVar[mjtSensor]
    mjSENS_TENDONPOS: ClassVar[mjtSensor]
    mjSENS_TENDONVEL: ClassVar[mjtSensor]
    mjSENS_TORQUE: ClassVar[mjtSensor]
    mjSENS_TOUCH: ClassVar[mjtSensor]
    mjSENS_USER: ClassVar[mjtSensor]
    mjSENS_VELOCIMETER: ClassVar[mjtSensor]

class mjtSleepPolicy(_Enum):
    mjSLEEP_ALLOWED: ClassVar[mjtSleepPolicy]
    mjSLEEP_AUTO: ClassVar[mjtSleepPolicy]
    mjSLEEP_AUTO_ALLOWED: ClassVar[mjtSleepPolicy]
    mjSLEEP_AUTO_NEVER: ClassVar[mjtSleepPolicy]
    mjSLEEP_INIT: ClassVar[mjtSleepPolicy]
    mjSLEEP_NEVER: ClassVar[mjtSleepPolicy]

class mjtSleepState(_Enum):
    mjS_ASLEEP: ClassVar[mjtSleepState]
    mjS_AWAKE: ClassVar[mjtSleepState]
    mjS_STATIC: ClassVar[mjtSleepState]

class mjtSolver(_Enum):
    mjSOL_CG: ClassVar[mjtSolver]
    mjSOL_NEWTON: ClassVar[mjtSolver]
    mjSOL_PGS: ClassVar[mjtSolver]

class mjtStage(_Enum):
    mjSTAGE_ACC: ClassVar[mjtStage]
    mjSTAGE_NONE: ClassVar[mjtStage]
    mjSTAGE_POS: ClassVar[mjtStage]
    mjSTAGE_VEL: ClassVar[mjtStage]

class mjtState(_Enum):
    mjNSTATE: ClassVar[mjtState]
    mjSTATE_ACT: ClassVar[mjtState]
    mjSTATE_CTRL: ClassVar[mjtState]
    mjSTATE_EQ_ACTIVE: ClassVar[mjtState]
    mjSTATE_FULLPHYSICS: ClassVar[mjtState]
    mjSTATE_HISTORY: ClassVar[mjtState]
    mjSTATE_INTEGRATION: ClassVar[mjtState]
    mjSTATE_MOCAP_POS: ClassVar[mjtState]
    mjSTATE_MOCAP_QUAT: ClassVar[mjtState]
    mjSTATE_PHYSICS: ClassVar[mjtState]
    mjSTATE_PLASTIC: ClassVar[mjtState]
    mjSTATE_PLUGIN: ClassVar[mjtState]
    mjSTATE_QFRC_APPLIED: ClassVar[mjtState]
    mjSTATE_QPOS: ClassVar[mjtState]
    mjSTATE_QVEL: ClassVar[mjtState]
    mjSTATE_TIME: ClassVar[mjtState]
    mjSTATE_USER: ClassVar[mjtState]
    mjSTATE_USERDATA: ClassVar[mjtState]
    mjSTATE_WARMSTART: ClassVar[mjtState]
    mjSTATE_XFRC_APPLIED: ClassVar[mjtState]

class mjtStereo(_Enum):
    mjSTEREO_NONE: ClassVar[mjtStereo]
    mjSTEREO_QUADBUFFERED: ClassVar[mjtStereo]
    mjSTEREO_SIDEBYSIDE: ClassVar[mjtStereo]

class mjtTendon(_Enum):
    mjTENDON_FIXED: ClassVar[mjtTendon]
    mjTENDON_SPATIAL: ClassVar[mjtTendon]

class mjtTexture(_Enum):
    mjTEXTURE_2D: ClassVar[mjtTexture]
    mjTEXTURE_CUBE: ClassVar[mjtTexture]
    mjTEXTURE_SKYBOX: ClassVar[mjtTexture]

class mjtTextureRole(_Enum):
    mjNTEXROLE: ClassVar[mjtTextureRole]
    mjTEXROLE_EMISSIVE: ClassVar[mjtTextureRole]
    mjTEXROLE_METALLIC: ClassVar[mjtTextureRole]
    mjTEXROLE_NORMAL: ClassVar[mjtTextureRole]
    mjTEXROLE_OCCLUSION: ClassVar[mjtTextureRole]
    mjTEXROLE_OPACITY: ClassVar[mjtTextureRole]
    mjTEXROLE_ORM: ClassVar[mjtTextureRole]
    mjTEXROLE_RGB: ClassVar[mjtTextureRole]
    mjTEXROLE_RGBA: ClassVar[mjtTextureRole]
    mjTEXROLE_ROUGHNESS: ClassVar[mjtTextureRole]
    mjTEXROLE_USER: ClassVar[mjtTextureRole]

class mjtTimer(_Enum):
    mjNTIMER: ClassVar[mjtTimer]
    mjTIMER_ACTUATION: ClassVar[mjtTimer]
    mjTIMER_ADVANCE: ClassVar[mjtTimer]
    mjTIMER_COL_BROAD: ClassVar[mjtTimer]
    mjTIMER_COL_NARROW: ClassVar[mjtTimer]
    mjTIMER_CONSTRAINT: ClassVar[mjtTimer]
    mjTIMER_FORWARD: ClassVar[mjtTimer]
    mjTIMER_INVERSE: ClassVar[mjtTimer]
    mjTIMER_POSITION: ClassVar[mjtTimer]
    mjTIMER_POS_COLLISION: ClassVar[mjtTimer]
    mjTIMER_POS_INERTIA: ClassVar[mjtTimer]
    mjTIMER_POS_KINEMATICS: ClassVar[mjtTimer]
    mjTIMER_POS_MAKE: ClassVar[mjtTimer]
    mjTIMER_POS_PROJECT: ClassVar[mjtTimer]
    mjTIMER_STEP: ClassVar[mjtTimer]
    mjTIMER_VELOCITY: ClassVar[mjtTimer]

class mjtTrn(_Enum):
    mjTRN_BODY: ClassVar[mjtTrn]
    mjTRN_JOINT: ClassVar[mjtTrn]
    mjTRN_JOINTINPARENT: ClassVar[mjtTrn]
    mjTRN_SITE: ClassVar[mjtTrn]
    mjTRN_SLIDERCRANK: ClassVar[mjtTrn]
    mjTRN_SO3: ClassVar[mjtTrn]
    mjTRN_TENDON: ClassVar[mjtTrn]
    mjTRN_UNDEFINED: ClassVar[mjtTrn]

class mjtVisFlag(_Enum):
    mjNVISFLAG: ClassVar[mjtVisFlag]
    mjVIS_ACTIVATION: ClassVar[mjtVisFlag]
    mjVIS_ACTUATOR: ClassVar[mjtVisFlag]
    mjVIS_AUTOCONNECT: ClassVar[mjtVisFlag]
    mjVIS_BODYBVH: ClassVar[mjtVisFlag]
    mjVIS_CAMERA: ClassVar[mjtVisFlag]
    mjVIS_COM: ClassVar[mjtVisFlag]
    mjVIS_CONSTRAINT: ClassVar[mjtVisFlag]
    mjVIS_CONTACTFORCE: ClassVar[mjtVisFlag]
    mjVIS_CONTACTPOINT: ClassVar[mjtVisFlag]
    mjVIS_CONTACTSPLIT: ClassVar[mjtVisFlag]
    mjVIS_CONVEXHULL: ClassVar[mjtVisFlag]
    mjVIS_FLEXEDGE: ClassVar[mjtVisFlag]
    mjVIS_FLEXFACE: ClassVar[mjtVisFlag]
    mjVIS_FLEXSKIN: ClassVar[mjtVisFlag]
    mjVIS_FLEXVERT: ClassVar[mjtVisFlag]
    mjVIS_INERTIA: ClassVar[mjtVisFlag]
    mjVIS_ISLAND: ClassVar[mjtVisFlag]
    mjVIS_JOINT: ClassVar[mjtVisFlag]
    mjVIS_LIGHT: ClassVar[mjtVisFlag]
    mjVIS_MESHBVH: ClassVar[mjtVisFlag]
    mjVIS_PERTFORCE: ClassVar[mjtVisFlag]
    mjVIS_PERTOBJ: ClassVar[mjtVisFlag]
    mjVIS_RANGEFINDER: ClassVar[mjtVisFlag]
    mjVIS_SCLINERTIA: ClassVar[mjtVisFlag]
    mjVIS_SDFITER: ClassVar[mjtVisFlag]
    mjVIS_SELECT: ClassVar[mjtVisFlag]
    mjVIS_SKIN: ClassVar[mjtVisFlag]
    mjVIS_STATIC: ClassVar[mjtVisFlag]
    mjVIS_TENDON: ClassVar[mjtVisFlag]
    mjVIS_TEXTURE: ClassVar[mjtVisFlag]
    mjVIS_TRANSPARENT: ClassVar[mjtVisFlag]

class mjtWarning(_Enum):
    mjNWARNING: ClassVar[mjtWarning]
    mjWARN_BADCTRL: ClassVar[mjtWarning]
    mjWARN_BADQACC: ClassVar[mjtWarning]
    mjWARN_BADQPOS: ClassVar[mjtWarning]
    mjWARN_BADQVEL: ClassVar[mjtWarning]
    mjWARN_CNSTRFULL: ClassVar[mjtWarning]
    mjWARN_CONTACTFULL: ClassVar[mjtWarning]
    mjWARN_INERTIA: ClassVar[mjtWarning]

class mjtWrap(_Enum):
    mjWRAP_CYLINDER: ClassVar[mjtWrap]
    mjWRAP_JOINT: ClassVar[mjtWrap]
    mjWRAP_NONE: ClassVar[mjtWrap]
    mjWRAP_PULLEY: ClassVar[mjtWrap]
    mjWRAP_SITE: ClassVar[mjtWrap]
    mjWRAP_SPHERE: ClassVar[mjtWrap]
