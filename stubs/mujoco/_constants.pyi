# Made by stubs/make_mujoco_stubs.py from MuJoCo 4.0.0.
# mypy: disable-error-code="misc, overload-overlap, overload-cannot-match, override"


MJTNUM_BYTES: int
mjDISABLESTRING: tuple[str, ...]
mjENABLESTRING: tuple[str, ...]
mjFRAMESTRING: tuple[str, ...]
mjLABELSTRING: tuple[str, ...]
mjMAXCONPAIR: int
mjMAXFLEXNODES: int
mjMAXIMP: float
mjMAXLIGHT: int
mjMAXLINE: int
mjMAXLINEPNT: int
mjMAXOVERLAY: int
mjMAXPLANEGRID: int
mjMAXTREEDEPTH: int
mjMAXVAL: float
mjMINAWAKE: int
mjMINIMP: float
mjMINMU: float
mjMINVAL: float
mjNBIAS: int
mjNDYN: int
mjNEQDATA: int
mjNFLUID: int
mjNGAIN: int
mjNGROUP: int
mjNIMP: int
mjNISLAND: int
mjNPOLY: int
mjNREF: int
mjNSENS: int
mjNSOLVER: int
mjPI: float
mjRNDSTRING: tuple[tuple[str, ...], ...]
mjSC_IN: int
mjSC_INOUT: int
mjSC_OUT: int
mjTIMERSTRING: tuple[str, ...]
mjVERSION_HEADER: int
mjVISSTRING: tuple[tuple[str, ...], ...]
