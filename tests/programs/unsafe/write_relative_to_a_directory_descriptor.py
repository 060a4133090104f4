# zygo: {"label": "UnsafeCode", "mentions": ["zygo_was_here"]}
import os

usr = os.open("/usr", os.O_RDONLY | os.O_DIRECTORY)
os.open("zygo_was_here", os.O_WRONLY | os.O_CREAT, dir_fd=usr)  # <- crime
