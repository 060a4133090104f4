"""IPython.display, as far as a kernel of zygo has it."""

import base64
import html
import json
import os

from zygo_kernel import channel

__all__ = ["Audio", "DisplayHandle", "HTML", "Image", "JSON", "Javascript", "Latex", "Markdown", "Math", "Pretty", "SVG",
           "clear_output", "display", "update_display"]


class DisplayHandle:
    def __init__(self, display_id=None):
        self.display_id = display_id or os.urandom(16).hex()

    def display(self, value, **options):
        display(value, display_id=self.display_id, **options)

    def update(self, value, **options):
        update_display(value, display_id=self.display_id, **options)

    def __repr__(self):
        return f"<DisplayHandle display_id={self.display_id}>"


def chosen(bundle, include, exclude):
    return {kind: value for kind, value in bundle.items()
            if (include is None or kind in include) and kind not in (exclude or ())}


def display(*values, include=None, exclude=None, metadata=None, transient=None, display_id=None, raw=False, clear=False,
            update=False, **others):
    """Shows the values; with a display_id, what it returns can show others in their place."""
    handle = None
    if display_id is not None:
        handle = DisplayHandle(None if display_id is True else display_id)
    about = dict(transient or {})
    if handle:
        about["display_id"] = handle.display_id
    if clear:
        clear_output(wait=True)
    for value in values:
        own = getattr(type(value), "_ipython_display_", None)
        if own is not None and not raw:
            own(value)
            continue
        data, described = (dict(value), {}) if raw else channel.bundle_of(value)
        described.update(metadata or {})
        channel.say("update_display_data" if update else "display_data", data=chosen(data, include, exclude),
                    metadata=described, transient=about)
    return None if update else handle


def update_display(value, *, display_id, **options):
    display(value, display_id=display_id, update=True, **options)


def clear_output(wait=False):
    channel.say("clear_output", wait=bool(wait))


def is_of_file(data):
    """Whether it names a file, as IPython takes it."""
    try:
        return isinstance(data, os.PathLike) or (isinstance(data, str) and os.path.exists(data))
    except ValueError:  # a text with a NUL
        return False


class DisplayObject:
    kind = "text/plain"
    mode = "r"

    def __init__(self, data=None, url=None, filename=None, metadata=None, **options):
        if filename is None and url is None and is_of_file(data):
            data, filename = None, data
        if url is not None:
            raise ValueError("a cell has no network: url cannot be read")
        if filename is not None:
            with open(filename, self.mode) as file:
                data = file.read()
        self.data, self.filename, self.metadata, self.options = data, filename, metadata or {}, options

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self.kind: self.data}, {self.kind: self.metadata} if self.metadata else {}

    def __repr__(self):
        return f"<IPython.core.display.{type(self).__name__} object>"


class Pretty(DisplayObject):
    pass


class HTML(DisplayObject):
    kind = "text/html"

    def _repr_html_(self):
        return self.data


class Markdown(DisplayObject):
    kind = "text/markdown"


class Latex(DisplayObject):
    kind = "text/latex"


class Math(Latex):
    def __init__(self, data=None, *places, **options):
        super().__init__(data, *places, **options)
        self.data = "$\\displaystyle " + str(self.data).strip("$") + "$"


class SVG(DisplayObject):
    kind = "image/svg+xml"


class Javascript(DisplayObject):
    kind = "application/javascript"


class JSON(DisplayObject):
    kind = "application/json"

    def __init__(self, data=None, *places, **options):
        super().__init__(data, *places, **options)
        if isinstance(self.data, str):
            self.data = json.loads(self.data)


class Image(DisplayObject):
    mode = "rb"
    kinds = {b"\xff\xd8": "image/jpeg", b"GI": "image/gif"}  # by their first bytes

    def __init__(self, data=None, url=None, filename=None, format=None, width=None, height=None, **options):
        if isinstance(data, str) and url is None and filename is None:
            data, url, filename = (None, data, None) if data.startswith(("http:", "https:")) else (None, None, data)
        super().__init__(data, url, filename, **options)
        if format is None:
            self.kind = self.kinds.get((self.data or b"")[:2], "image/png")
        else:
            self.kind = "image/" + format.lower().replace("jpg", "jpeg")
        self.metadata = {**self.metadata,
                         **{name: size for name, size in (("width", width), ("height", height)) if size is not None}}


class Audio(DisplayObject):
    mode = "rb"

    def _repr_mimebundle_(self, include=None, exclude=None):
        import mimetypes
        guessed = mimetypes.guess_type(os.fspath(self.filename))[0] if self.filename else None
        kind = html.escape(self.options.get("mimetype") or guessed or "audio/wav")
        text = base64.b64encode(self.data).decode()
        return {"text/html": f'<audio controls src="data:{kind};base64,{text}"></audio>'}
