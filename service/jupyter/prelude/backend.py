"""The backend of matplotlib in a kernel."""

from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg

from zygo_kernel import figures

FigureManager = FigureManagerBase
FigureCanvas = FigureCanvasAgg


def show(*args, **kwargs):
    figures.show()
