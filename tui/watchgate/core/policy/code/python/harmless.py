"""Closed lists of Python that only computes, reads what it is given, prints or waits."""

from __future__ import annotations

from typing import Final

from watchgate.core.policy.shell.commands import names

BUILTINS: Final = names(
    """
    abs aiter all anext any ascii bin bool bytearray bytes callable chr complex dict dir divmod
    enumerate filter float format frozenset hasattr hash hex id input int isinstance issubclass
    iter len list map max memoryview min next object oct ord pow print property range repr
    reversed round set slice sorted staticmethod classmethod str sum super tuple type zip exit
    quit help BaseException Exception ArithmeticError AssertionError AttributeError EOFError
    FileExistsError FileNotFoundError ImportError IndexError IsADirectoryError KeyError
    KeyboardInterrupt LookupError ModuleNotFoundError NameError NotADirectoryError
    NotImplementedError OSError IOError OverflowError PermissionError RecursionError
    RuntimeError StopIteration SyntaxError SystemExit TimeoutError TypeError UnicodeDecodeError
    UnicodeEncodeError UnicodeError ValueError Warning UserWarning DeprecationWarning
    ZeroDivisionError NotImplemented Ellipsis __name__ __file__ __doc__ __debug__
    ConnectionError BrokenPipeError ConnectionRefusedError ExceptionGroup InterruptedError
    """
)

# All that their public names do is to work something out.
MODULES: Final = names(
    """
    math cmath json re string textwrap datetime time calendar zoneinfo collections
    collections.abc itertools functools statistics random decimal fractions numbers hashlib hmac
    base64 binascii struct uuid secrets enum dataclasses typing abc copy pprint reprlib heapq
    bisect array difflib unicodedata html html.entities html.parser urllib.parse csv tomllib
    colorsys keyword token graphlib zlib traceback errno stat ntpath fnmatch ipaddress mimetypes
    email.utils email.header quopri locale platform queue contextvars warnings sysconfig
    importlib.metadata concurrent.futures argparse getopt optparse unittest unittest.mock
    __future__ typing_extensions opcode dis cProfile pstats xml.sax.saxutils urllib.error
    threading posixpath os.path this
    """
)
"""Modules of which every public name is harmless."""

NAMES: Final = names(
    """
    datetime.time http.HTTPStatus operator.add operator.sub operator.mul operator.truediv
    operator.floordiv operator.mod operator.itemgetter operator.attrgetter operator.eq
    operator.ne operator.lt operator.gt operator.le operator.ge operator.xor operator.neg
    operator.contains sys.argv sys.version sys.version_info sys.platform sys.path sys.executable
    sys.prefix sys.base_prefix sys.exec_prefix sys.stdin sys.stdout sys.stderr sys.exit
    sys.maxsize sys.byteorder sys.getsizeof sys.getrecursionlimit sys.setrecursionlimit
    sys.flags sys.implementation sys.api_version sys.hexversion sys.getdefaultencoding
    sys.getfilesystemencoding sys.float_info sys.int_info sys.stdlib_module_names
    sys.builtin_module_names sys.getrefcount sys.intern sys.maxunicode sys.exc_info sys.abiflags
    sys.thread_info sys.set_int_max_str_digits sys.getswitchinterval sys.stdin.buffer
    sys.stdout.buffer sys.stderr.buffer sys.dont_write_bytecode sys.ps1 os.sep os.linesep
    os.pathsep os.name os.curdir os.pardir os.extsep os.devnull os.getcwd os.getpid os.getppid
    os.getuid os.geteuid os.getgid os.getegid os.getlogin os.uname os.cpu_count os.stat os.lstat
    os.access os.urandom os.getloadavg os.times os.fspath os.fsencode os.fsdecode os.F_OK
    os.R_OK os.W_OK os.X_OK os.strerror os.get_terminal_size os.isatty os.statvfs os.readlink
    os.stat_result os.PathLike os.getpgid os.getpgrp os.WNOHANG os.WEXITSTATUS os.SEEK_SET
    os.SEEK_END os.O_RDONLY os.error os.sched_getaffinity os.get_exec_path
    os.supports_follow_symlinks os.SEEK_CUR shutil.which shutil.disk_usage
    shutil.get_terminal_size shutil.ignore_patterns shutil.Error shutil.SameFileError
    shutil.get_archive_formats glob.escape pathlib.PurePath pathlib.PurePosixPath
    pathlib.PureWindowsPath subprocess.PIPE subprocess.DEVNULL subprocess.STDOUT
    subprocess.CalledProcessError subprocess.TimeoutExpired subprocess.SubprocessError
    subprocess.CompletedProcess subprocess.list2cmdline socket.gethostname socket.getfqdn
    socket.AF_INET socket.AF_INET6 socket.SOCK_STREAM
    socket.SOCK_DGRAM socket.SOL_SOCKET socket.SO_REUSEADDR socket.timeout socket.error
    socket.gaierror socket.setdefaulttimeout socket.inet_aton socket.ntohs socket.inet_ntoa
    socket.inet_pton socket.ntohl socket.htons socket.htonl socket.herror io.StringIO io.BytesIO
    io.TextIOWrapper io.SEEK_SET io.SEEK_END io.BufferedReader io.UnsupportedOperation
    tempfile.gettempdir tempfile.gettempprefix contextlib.suppress contextlib.contextmanager
    contextlib.redirect_stdout contextlib.redirect_stderr contextlib.nullcontext
    contextlib.closing contextlib.asynccontextmanager contextlib.AbstractContextManager
    ast.parse ast.literal_eval ast.dump ast.unparse ast.walk ast.iter_child_nodes
    ast.get_docstring ast.get_source_segment ast.iter_fields ast.NodeVisitor inspect.getsource
    inspect.signature inspect.getfile inspect.getmembers inspect.isclass inspect.isfunction
    inspect.ismethod inspect.getdoc inspect.getmodule inspect.getsourcefile inspect.getmro
    inspect.iscoroutinefunction inspect.cleandoc inspect.getsourcelines inspect.ismodule
    inspect.Parameter inspect.getfullargspec inspect.isabstract inspect.isgenerator
    inspect.isbuiltin importlib.util.find_spec importlib.util importlib.resources
    importlib.invalidate_caches pkgutil.iter_modules pkgutil.walk_packages
    pkgutil.find_loader pkgutil.extend_path
    pickle.dumps pickle.HIGHEST_PROTOCOL pickle.PickleError pickle.PicklingError marshal.dumps
    types.SimpleNamespace types.MappingProxyType types.ModuleType.__name__ types.NoneType
    types.GeneratorType types.UnionType types.GenericAlias types.TracebackType
    types.MethodType.__name__ asyncio.run asyncio.sleep asyncio.gather asyncio.wait_for
    asyncio.create_task asyncio.Queue asyncio.Lock asyncio.Event asyncio.Semaphore
    asyncio.TimeoutError asyncio.CancelledError asyncio.wait asyncio.get_event_loop
    asyncio.new_event_loop asyncio.get_running_loop asyncio.timeout asyncio.Task
    asyncio.all_tasks asyncio.current_task asyncio.TaskGroup asyncio.iscoroutinefunction
    asyncio.Future asyncio.to_thread asyncio.as_completed asyncio.ensure_future asyncio.shield
    asyncio.exceptions.TimeoutError multiprocessing.cpu_count multiprocessing.Pool
    multiprocessing.Process multiprocessing.current_process multiprocessing.pool.ThreadPool
    logging.getLogger logging.DEBUG logging.INFO logging.WARNING logging.ERROR logging.CRITICAL
    logging.StreamHandler logging.Formatter logging.debug logging.info logging.warning
    logging.error logging.disable logging.NullHandler logging.captureWarnings logging.Logger
    logging.exception logging.critical logging.NOTSET signal.SIGTERM signal.SIGKILL
    signal.SIGINT signal.SIGALRM signal.signal signal.alarm signal.SIG_DFL signal.SIGHUP
    signal.SIGUSR1 signal.SIGUSR2 signal.SIG_IGN signal.SIGPIPE signal.Signals signal.setitimer
    signal.ITIMER_REAL signal.SIGCHLD signal.SIGSTOP signal.SIGCONT signal.SIGQUIT
    signal.getsignal xml.etree.ElementTree.fromstring xml.etree.ElementTree.tostring
    xml.etree.ElementTree.Element xml.etree.ElementTree.SubElement
    xml.etree.ElementTree.ParseError xml.etree.ElementTree.indent
    xml.etree.ElementTree.register_namespace xml.etree.ElementTree.XML
    xml.etree.ElementTree.dump xml.dom.minidom.parseString sqlite3.Row sqlite3.version
    sqlite3.sqlite_version sqlite3.OperationalError sqlite3.Error sqlite3.IntegrityError
    sqlite3.DatabaseError sqlite3.sqlite_version_info urllib.request.quote
    urllib.request.unquote urllib.request.pathname2url shlex.quote shlex.split shlex.join
    shlex.shlex site.getsitepackages site.getusersitepackages site.USER_BASE site.USER_SITE
    site.ENABLE_USER_SITE getpass.getuser pwd.getpwuid pwd.getpwnam grp.getgrgid grp.getgrnam
    gc.collect gc.get_stats gc.disable gc.enable gc.get_count gc.freeze resource.getrusage
    resource.RUSAGE_SELF resource.RUSAGE_CHILDREN resource.getrlimit resource.RLIMIT_NOFILE
    resource.RLIMIT_AS ssl.OPENSSL_VERSION ssl.get_default_verify_paths ssl.OPENSSL_VERSION_INFO
    ssl.create_default_context ssl.HAS_TLSv1_3 ssl.SSLError ssl.CERT_NONE timeit.default_timer
    tracemalloc.start tracemalloc.get_traced_memory tracemalloc.stop tracemalloc.take_snapshot
    codecs.decode codecs.encode codecs.BOM_UTF8 codecs.lookup codecs.getincrementaldecoder
    codecs.BOM_UTF16_LE codecs.BOM_UTF16_BE codecs.getreader codecs.getwriter
    zipfile.ZIP_DEFLATED zipfile.BadZipFile zipfile.is_zipfile tarfile.TarError
    tarfile.is_tarfile zipfile.ZIP_STORED tarfile.ReadError gzip.compress gzip.decompress
    bz2.compress bz2.decompress lzma.compress lzma.decompress email.message_from_string
    email.message_from_bytes email.policy email.policy.default email.message.EmailMessage
    email.parser.Parser linecache.clearcache filecmp.clear_cache weakref.ref
    weakref.WeakValueDictionary weakref.WeakKeyDictionary sched.scheduler curses.ascii
    select.POLLIN termios.TIOCGWINSZ tokenize.generate_tokens tokenize.untokenize
    tokenize.TokenError tokenize.NAME tokenize.COMMENT plistlib.loads plistlib.dumps
    plistlib.FMT_XML configparser.Error configparser.NoSectionError
    """
)
"""Names of other modules of which each is harmless."""

UNHARMLESS: Final = names(
    """
    typing.get_type_hints unittest.mock.patch unittest.TestProgram unittest.defaultTestLoader
    unittest.TestLoader cProfile.run cProfile.runctx cProfile.Profile.run
    concurrent.futures.process dataclasses.make_dataclass typing.ForwardRef argparse.FileType
    threading.settrace threading.setprofile platform.popen csv.__dict__ warnings.showwarning
    traceback.sys
    """
)
"""Exceptions to the modules above."""

METHODS: Final = names(
    """
    substitute safe_substitute append extend insert pop clear copy count index sort reverse
    remove get items keys values update setdefault popitem fromkeys add discard union
    intersection difference symmetric_difference issubset issuperset isdisjoint
    intersection_update difference_update most_common elements subtract total appendleft popleft
    rotate move_to_end capitalize casefold center decode encode endswith expandtabs find format
    format_map isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric
    isprintable isspace istitle isupper join ljust lower lstrip maketrans partition removeprefix
    removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith
    strip swapcase title translate upper zfill hex fromhex bit_length to_bytes from_bytes
    is_integer as_integer_ratio conjugate bit_count read readline readlines write writelines
    flush close seek tell readable writable seekable fileno isatty getvalue detach readinto
    reconfigure group groups groupdict start end span expand match search fullmatch findall
    finditer sub subn isoformat strftime strptime timestamp total_seconds date time weekday
    isoweekday isocalendar astimezone utctimetuple timetuple toordinal utcoffset tzname dst
    ctime now today utcnow fromtimestamp fromisoformat combine hexdigest digest writerow
    writerows writeheader sniff dumps loads find_all iter itertext findtext iterfind getroot
    tostring text attrib tag tobytes tolist parse_args parse_known_args add_argument add_parser
    add_subparsers add_mutually_exclusive_group add_argument_group set_defaults print_help error
    parse_intermixed_args format_help format_usage put get_nowait put_nowait task_done empty
    qsize full acquire release locked wait notify notify_all is_set set result done cancel
    exception is_alive daemon submit shutdown add_done_callback debug info warning critical
    setLevel addHandler setFormatter isEnabledFor log seed random randint choice choices sample
    shuffle uniform gauss randrange getrandbits quantize sqrt ln exp normalize to_eng_string
    limit_denominator as_posix as_uri is_absolute is_relative_to relative_to with_suffix
    with_name sections options has_option has_section getint getboolean getfloat read_string
    read_dict cache_clear cache_info throw aclose __len__ __iter__ __next__ __enter__ __exit__
    __contains__ __eq__ __str__ __repr__ __init__ __post_init__ network_address hosts subnets
    num_addresses overlaps is_private is_loopback visit generic_visit get_docstring fetchone
    fetchall fetchmany communicate poll returncode namelist infolist getinfo getnames getmembers
    getmember testzip printdir extractfile check_returncode raise_for_status json getheader
    getheaders geturl getcode read1 status_code apply_async map starmap imap imap_unordered
    cputime print_stats sort_stats strip_dirs enable disable as_string as_bytes walk get_payload
    get_content get_content_type get_all set_content is_multipart get_filename entry_points
    select metadata requires version name files distribution locate feed handle_starttag
    assertEqual assertTrue assertFalse assertIn assertRaises assertIsNone assertNotIn
    assertIsInstance assertAlmostEqual assertNotEqual assertIsNot assertGreater assertLess
    subTest skipTest setUp tearDown getbuffer getsockname settimeout bind listen setsockopt
    setblocking run_until_complete is_dir is_file stat inode is_symlink exists
    """
)
"""Methods that do nothing but work on data, whatever data of Python they are called on."""

DUNDERS: Final = names(
    """
    __version__ __file__ __name__ __doc__ __path__ __all__ __author__ __qualname__
    __annotations__ __len__ __iter__ __next__ __enter__ __exit__ __contains__ __eq__ __str__
    __repr__ __init__ __post_init__ __version_info__ __package__ __cause__ __traceback__
    __future__ __lt__ __hash__ __add__ __getitem__ __call__ __slots__ __match_args__ __main__
    __aenter__ __aexit__ __bool__ __license__ __debug__ __title__ __module__
    __dataclass_fields__ __aiter__ __anext__ __gt__
    """
)
"""Names in underlines that may be read or defined; any other leads to what runs code."""
