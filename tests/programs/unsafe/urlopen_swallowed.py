# zygo: {"label": "UnsafeCode", "mentions": ["socket|connect"]}
import urllib.request

try:
    urllib.request.urlopen("http://127.0.0.1:9/", timeout=1)  # <- crime
except OSError:
    pass
