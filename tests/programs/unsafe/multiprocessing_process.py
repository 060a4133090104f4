# zygo: {"label": "UnsafeCode", "mentions": ["fork|clone"]}
import multiprocessing

if __name__ == "__main__":
    process = multiprocessing.get_context("fork").Process(target=print, args=(1,))
    process.start()  # <- crime
