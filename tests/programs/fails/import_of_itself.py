# zygo: {"job": {}, "label": "ModuleNotFoundError"}
import main
