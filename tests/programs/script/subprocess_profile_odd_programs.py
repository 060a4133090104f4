# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "OK", "stdout": "8 OSError\n"}
import os
import subprocess

contents = {"empty": b"", "text": b"hello", "nothing": b"#!\n", "absent": b"#!/no/such\n", "itself": b"#!itself\n",
            "long": b"#!" + b"x" * 300, "elf": b"\x7fELF" + b"\0" * 60, "zeros": b"\0" * 4096}
failed = 0
for name, content in contents.items():
    with open(name, "wb") as file:
        file.write(content)
    os.chmod(name, 0o755)
    try:
        subprocess.run([f"./{name}"], stderr=subprocess.DEVNULL, check=False)
    except OSError:
        failed += 1
print(failed, "OSError")
