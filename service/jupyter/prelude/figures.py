"""Pictures of matplotlib, where a cell has loaded it: shown by plt.show(), or at the end of the cell."""

import io
import os
import sys

from zygo_kernel import channel

BACKEND = "module://zygo_kernel.backend"


def begin():
    if os.environ.get("MPLBACKEND", "Agg").lower() == "agg":
        os.environ["MPLBACKEND"] = BACKEND
    matplotlib = sys.modules.get("matplotlib")  # where the template has it
    if matplotlib is not None:
        matplotlib.use(BACKEND)


def png_of(figure):
    file = io.BytesIO()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    FigureCanvasAgg(figure).print_figure(file, format="png", bbox_inches="tight", dpi=figure.dpi,
                                         facecolor=figure.get_facecolor())
    return file.getvalue()


def close_fonts():
    """matplotlib keeps those that it has used open, and a step with open files of elsewhere is not kept."""
    fonts = sys.modules.get("matplotlib.font_manager")
    clear = getattr(getattr(fonts, "_get_font", None), "cache_clear", None)
    if clear is not None:
        clear()


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
