"""Dotted names in Python: which are harmless, and which are of Python itself."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from watchgate.core.policy.code.python.harmless import (
    BUILTINS,
    DUNDERS,
    METHODS,
    MODULES,
    NAMES,
    UNHARMLESS,
)
from watchgate.core.policy.shell.commands import names

STANDARD: Final = names(
    """
    abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit
    audioop base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd
    code codecs codeop collections colorsys commands compileall compression concurrent
    configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses
    datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno
    faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc genericpath
    getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib
    imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale
    logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt
    multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os
    ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib popen2 poplib
    posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat
    queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select
    selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd
    sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct
    subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios
    textwrap this threading time timeit tkinter token tokenize tomllib trace traceback
    tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu uuid venv
    warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile
    zipimport zlib zoneinfo
    """
)
"""The modules that come with Python, of any version in use; those with `_` in front do too."""

# They lead from any object to the variables of what runs, and from there to everything.
_FRAMES: Final = names(
    """
    f_globals f_locals f_builtins f_back f_code gi_frame gi_code cr_frame cr_code ag_frame
    ag_code tb_frame tb_next func_globals func_code co_code mro
    """
)
_ALIASES: Final = {"posix": "os", "posixpath": "os.path", "io.open": "builtins.open"}

_SMALL_CLASSES: Final = names(
    "datetime date time timedelta timezone deque defaultdict chain array struct_time"
)

COMMON: Final = names(
    """
    numpy pandas scipy matplotlib seaborn plotly sklearn torch yaml requests httpx bs4 lxml PIL
    toml tomli tomli_w dateutil pytz attr attrs pydantic pydantic_core rich click typer tqdm
    jinja2 markdown pygments packaging setuptools pkg_resources pip wheel networkx sympy polars
    pyarrow openpyxl dotenv chardet certifi urllib3 aiohttp flask fastapi starlette django
    sqlalchemy msgspec orjson ujson simplejson regex tabulate psutil colorama termcolor
    cryptography nltk tiktoken openai anthropic transformers datasets black ruff mypy pytest
    IPython cv2 jsonschema markupsafe werkzeug sqlglot textual anyio tree_sitter duckdb pydub
    mistune docx pypdf PyPDF2 xlrd xlsxwriter charset_normalizer idna ruamel cattrs loguru
    structlog tenacity typing_extensions jwt google protobuf grpc boltons more_itertools
    sortedcontainers hypothesis numexpr h5py tables skimage imageio shapely geopandas faker
    uvicorn gunicorn websockets redis pymongo psycopg psycopg2 pymysql asyncpg tensorflow keras
    jax
    """
)
"""Packages that many have, so that to import one runs no code of the project."""

REACHING: Final = names(
    """
    sh plumbum fabric fabric2 invoke pexpect ptyprocess paramiko boto3 botocore aioboto3 docker
    kubernetes ansible salt delegator cffi execnet rpyc Pyro4 dill cloudpickle joblib keyboard
    pyautogui pynput scapy impacket pwn pwntools asyncssh netmiko nornir celery rq subprocess32
    subprocess_run send2trash winreg win32api win32com pywin32 fuse dulwich git pygit2 github
    twilio sendgrid stripe smtplib2 pip._internal libtmux psycogreen azure libcloud testinfra
    nox tox pythoncom commands popen2 wexpect pyperclip shellescape easyprocess sarge envoy
    xonsh mitmproxy
    """
)
"""Packages that start programs, reach other machines or run what data says."""


@lru_cache(maxsize=256)
def canonical(name: str) -> str:
    """The name that the tables have for a dotted name."""
    for alias, real in _ALIASES.items():
        if name == alias or name.startswith(alias + "."):
            return real + name[len(alias) :]
    return name


def is_of_python(name: str) -> bool:
    """Tells whether a dotted name is of a module that comes with Python."""
    root = name.partition(".")[0]
    return root in STANDARD or root.startswith("_")


def may_be_read(attribute: str, *, private: bool = False) -> bool:
    """Tells whether an attribute of this name leads to nothing but data and functions."""
    if attribute in _FRAMES:
        return False
    if attribute.startswith("__"):
        return attribute in DUNDERS
    return private or not attribute.startswith("_")


@lru_cache(maxsize=1024)
def is_harmless(name: str) -> bool:
    """Tells whether the function, class or value of a dotted name is harmless, also when called."""
    module, _, last = name.rpartition(".")
    if not module:
        return name in MODULES
    if module == "builtins":
        return last in BUILTINS
    if name in NAMES or name in MODULES:
        return True
    if any(name == each or name.startswith(each + ".") for each in UNHARMLESS):
        return False
    if not may_be_read(last):
        return False
    if module in MODULES or _in_safe_module(module):
        # A module may show what it has imported itself: `random.os`.
        return last not in STANDARD or last == module.rpartition(".")[2]
    is_class = module in NAMES or module.removeprefix("builtins.") in BUILTINS
    return is_class and last in METHODS


def _in_safe_module(name: str) -> bool:
    """Tells whether this is a class of a harmless module."""
    module, _, last = name.rpartition(".")
    is_class = last[:1].isupper() or last in _SMALL_CLASSES
    return bool(module) and module in MODULES and is_class and is_harmless(name)
