# zygo: {"label": "ModuleNotFoundError", "exception": {"message": "no_such_module_anywhere"}}
import no_such_module_anywhere  # <- crime
