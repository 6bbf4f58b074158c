"""The names of Ruby that are harmless, and those that a command stands for."""

from __future__ import annotations

from watchgate.core.policy.shell.commands import names

KEYWORDS = names(
    """if unless elsif else end while until for in do begin rescue ensure case when then and or not
    return next break redo retry yield self nil true false defined? def BEGIN END __FILE__ __LINE__
    __method__ __dir__"""
)
VALUES = names("self nil true false end __FILE__ __LINE__ __method__ __dir__")
"""Keywords behind which a slash divides."""

BARE = names(
    """puts p print pp printf putc gets readline readlines loop lambda proc raise exit format
    sprintf rand srand sleep catch throw warn block_given? gsub sub chomp chop caller freeze Integer
    Float String Array Hash Rational Complex BigDecimal URI at_exit abort"""
)
"""Functions that are called without anything before them."""

GRAVE = names(
    """fork binding eval open load send __send__ public_send method instance_eval instance_exec trap
    syscall autoload exit! test select set_trace_func trace_var callcc gem require require_relative
    system exec spawn define_method define_singleton_method singleton_class extend include prepend
    const_get class_eval module_eval class_exec module_exec alias_method undef_method remove_method
    instance_variable_set instance_variable_get fail initialize method_missing respond_to_missing?
    alias undef class module unlink delete popen class_variable_set const_set remove_const"""
)
"""Functions of every object that no code may define anew, since it may call them before."""

METHODS = names(
    """abs all? any? append at between? bytes bytesize call capitalize casecmp casecmp? ceil center
    chars chomp chop chr chunk_while clamp clear codepoints collect combination compact concat count
    cycle day days default default= delete delete_at delete_if delete_prefix delete_suffix detect
    dig digits div divmod downcase downto drop drop_while dump dup each each_char each_cons
    each_entry each_index each_key each_line each_pair each_slice each_value each_with_index
    each_with_object empty? encode encoding end_with? entries eql? even? except fdiv fetch
    fetch_values fill filter filter_map find find_all find_index first flat_map flatten floor flush
    force_encoding freeze frozen? gcd getc gets grep grep_v group_by gsub gsub! has_key? has_value?
    hash hex hexdigest digest base64digest hour include? index infinite? insert inspect instance_of?
    integer? intersect? invert is_a? iso8601 join keep_if key? key keys kind_of? last lazy lcm
    length lines ljust lstrip map map! match match? max max_by member? merge merge! message min
    min_by minmax minute mon month nan? negative? next next_day nil? none? odd? one? ord pack
    partition permutation pop positive? pow pred prepend product puts print push rationalize read
    readline readlines rindex reject reject! remainder replace reverse reverse! reverse_each rewind
    rjust rotate round rpartition rstrip sample scan select select! shift shuffle size slice
    slice_when sort sort! sort_by sort_by! split squeeze squeeze! start_with? step strftime strip
    strip! sub sub! succ sum swapcase sync sync= take take_while tally tap then times to_a to_c
    to_date to_f to_h to_i to_int to_json to_r to_s to_set to_str to_sym to_time to_yaml tr tr_s
    transform_keys transform_values transpose truncate unicode_normalize union uniq uniq! unpack
    unpack1 unshift upcase upto valid_encoding? value? values values_at write yday year zero? zip
    sec min wday utc localtime getlocal usec backtrace full_message close eof? each_byte difference
    intersection add add? subset? superset? headers row fields begin captures named_captures
    pre_match post_match offset now today parse generate pretty_generate new at mktime gm local
    strptime iso8601 valid_date? uuid alphanumeric random_number random_bytes urlsafe_base64
    strict_encode64 strict_decode64 encode64 decode64 sqrt sin cos tan log log2 log10 exp hypot cbrt
    atan2 host path port scheme query fragment encode_www_form encode_www_form_component
    decode_www_form escape union measure realtime string winsize segments bump prerelease?
    with_index with_object inject reduce"""
)
"""Methods that compute, or that read and write what is open already."""

TYPES = names(
    """String Integer Float Array Hash Symbol Regexp Time Date DateTime Math JSON Struct Set Range
    NilClass TrueClass FalseClass Numeric Rational Complex Random SecureRandom Digest MD5 SHA1
    SHA256 SHA512 Base64 CSV StandardError RuntimeError ArgumentError KeyError TypeError IndexError
    NameError NoMethodError ZeroDivisionError Exception ParserError Errno ENOENT LoadError Psych
    SyntaxError Encoding UTF_8 StringIO BigDecimal URI Shellwords Benchmark RUBY_VERSION
    RUBY_PLATFORM RUBY_ENGINE RUBY_PATCHLEVEL RUBY_RELEASE_DATE RUBY_COPYRIGHT RUBY_DESCRIPTION
    STDIN STDOUT STDERR PI E INFINITY NAN VERSION Gem Version Bundler Comparable Enumerable
    Interrupt"""
)
"""Constants whose methods, of the names above, only compute."""

LIBRARIES = names(
    """json yaml date time set csv digest digest/md5 digest/sha1 digest/sha2 securerandom pp
    bigdecimal English benchmark uri base64 stringio fileutils shellwords psych zlib net/http
    rubygems rbconfig prime matrix ostruct bundler tempfile"""
)
"""Libraries that do nothing when they are loaded."""


def _acts(table: dict[str, str]) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(command.split()) for command, listed in table.items() for name in listed.split()
    }


ACTS = _acts(
    {
        "cat": """File.read File.readlines File.foreach File.binread YAML.load_file
            YAML.safe_load_file YAML.unsafe_load_file JSON.load_file CSV.read CSV.foreach
            CSV.table File.readlink""",
        "ls": "Dir.glob Dir.entries Dir.children Dir.each_child Dir.exist? Dir.empty? Dir.[]",
        "stat": """File.exist? File.file? File.directory? File.size File.mtime File.stat
            File.symlink? File.zero? File.size? File.readable? File.writable? File.executable?
            File.ctime File.atime File.realpath""",
        "tee": "File.write File.binwrite File.truncate",
        "rm": "File.delete File.unlink FileUtils.rm FileUtils.rm_f",
        "rm -rf": """FileUtils.rm_rf FileUtils.rm_r FileUtils.remove_dir FileUtils.remove_entry
            FileUtils.remove_entry_secure FileUtils.rmtree FileUtils.remove""",
        "rmdir": "Dir.rmdir Dir.delete Dir.unlink FileUtils.rmdir",
        "mkdir -p": "Dir.mkdir FileUtils.mkdir FileUtils.mkdir_p FileUtils.makedirs",
        "mv": "File.rename FileUtils.mv FileUtils.move",
        "cp -r": "FileUtils.cp FileUtils.cp_r FileUtils.copy",
        "ln -s": "File.symlink FileUtils.ln_s FileUtils.ln_sf",
        "chmod": "File.chmod FileUtils.chmod",
        "touch": "FileUtils.touch",
        "cd": "Dir.chdir FileUtils.cd",
        "curl": "Net.HTTP.get Net.HTTP.get_response",
        "curl -d": "Net.HTTP.post Net.HTTP.post_form",
        "kill": "Process.kill",
    }
)
"""Functions by the constants before them, with the words of a command that does the same."""

FIRST_ONLY = names("cat tee curl ls mkdir")
"""Commands that take only the first argument of such a function."""

HARMLESS_OF = {
    "File": names(
        "basename dirname extname join split fnmatch fnmatch? absolute_path? expand_path SEPARATOR"
    ),
    "Dir": names("pwd getwd"),
    "YAML": names("load safe_load dump load_stream parse"),
    "Process": names("pid ppid clock_gettime CLOCK_MONOTONIC"),
    "Etc": names("nprocessors"),
    "RbConfig": names("CONFIG ruby"),
    "ARGF": names("read each_line each readlines gets lineno filename eof? each_with_index map"),
    "GC": names("stat count start"),
    "Marshal": names("dump"),
}
"""Names of constants that only compute, or that read what the program is given."""

OPERANDS = names(
    """first last each map join size length empty? shift inspect each_with_index count include? any?
    [] fetch to_a select flat_map each_slice"""
)
"""Methods that leave the operands of a program as they are."""
