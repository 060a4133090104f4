# zygo: {"job": {"files": {"data/in.txt": {"text": "h\u00e9llo\n"}, "raw.bin": {"b64": "AP8="}}}, "label": "OK", "stdout": "h\u00e9llo b'\\x00\\xff'\n"}
with open("data/in.txt", encoding="utf-8") as text, open("raw.bin", "rb") as raw:
    print(text.read().strip(), raw.read())
