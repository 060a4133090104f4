"""Pictures of matplotlib, where a cell has loaded it: shown by plt.show(), or at the end of the cell."""

import gc
import io
import os
import sys

from zygo_kernel import channel

BACKEND = "module://zygo_kernel.backend"


def begin():
    """Not by the environment: programs that a cell starts have no such backend."""
    matplotlib = sys.modules.get("matplotlib")  # where the template has it
    if matplotlib is not None:
        use_ours(matplotlib)
    else:
        sys.meta_path.insert(0, Finder())


def use_ours(matplotlib):
    if os.environ.get("MPLBACKEND", "Agg").lower() == "agg":
        matplotlib.use(BACKEND)


class Finder:
    """Of matplotlib, to choose the backend when it is imported."""

    is_asking = False  # the others

    def find_spec(self, name, path=None, target=None):
        if name != "matplotlib" or self.is_asking:
            return None
        from importlib.util import find_spec
        self.is_asking = True
        try:
            spec = find_spec(name)
        finally:
            self.is_asking = False
        if spec is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader)
        return spec


class Loader:
    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def exec_module(self, module):
        self.loader.exec_module(module)
        module.__spec__.loader = module.__loader__ = self.loader
        use_ours(module)


def png_of(figure):
    file = io.BytesIO()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    FigureCanvasAgg(figure).print_figure(file, format="png", bbox_inches="tight", dpi=figure.dpi,
                                         facecolor=figure.get_facecolor())
    return file.getvalue()


def close_fonts():
    """matplotlib keeps those that it has used open, and a step with open files of elsewhere is not kept."""
    parser = getattr(sys.modules.get("matplotlib.mathtext"), "MathTextParser", None)
    caches = [getattr(sys.modules.get("matplotlib.font_manager"), "_get_font", None), getattr(parser, "_parse_cached", None)]
    used = [cache for cache in caches if hasattr(cache, "cache_info") and cache.cache_info().currsize]
    for cache in used:
        cache.cache_clear()
    if used and parser is not None:  # which has them in cycles
        gc.collect()


def show():
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    try:
        for number in pyplot.get_fignums():
            data, metadata = channel.bundle_of(pyplot.figure(number))
            channel.say("display_data", data=data, metadata=metadata, transient={})
    finally:
        pyplot.close("all")
