//! `include/rlcore.h` equals the header made from the sources, names the right version, and compiles in the languages it
//! promises.
//!
//! cbindgen makes each section from one file; this file adds order and layout, never a declaration.

mod common;

use common::bindings::bindings;
use common::comments::{entries, has_shape, in_a_word, said};
use common::tables::ABOVE;
use common::{cc, csharp, cxx, env_table, is_kept, layer_table, learner_config, preset_table, root, run, scratch};
use std::fmt::Write as _;
use std::fs;

/// The sections of the header in order: a file of `src/`, the title of its section, and the types that no function of that file
/// names.
const SECTIONS: &[(&str, &str, &[&str])] = &[
    ("status.rs", "Versions and results", &[]),
    ("cpu.rs", "CPU levels", &["rlcore_cpu_level"]),
    ("block.rs", "Blocks as bytes", &[]),
    ("rng.rs", "Random streams", &[]),
    ("space.rs", "Spaces", &["rlcore_element", "rlcore_space", "rlcore_field_flag", "rlcore_field"]),
    ("wrap.rs", "Wrappers", &["rlcore_wrap", "rlcore_atari_screen", "rlcore_atari_order", "rlcore_wrapper"]),
    ("env.rs", "Environments", &["rlcore_level", "rlcore_env_def"]),
    ("builtin.rs", "Built-in environments", &["rlcore_env_id"]),
    ("step_rows.rs", "Rows: the arrays that go round the loop", &["rlcore_rows"]),
    ("vecenv.rs", "N environments of one kind", &["rlcore_autoreset"]),
    ("layout.rs", "Observation fields", &[]),
    ("sampling.rs", "Action selection", &["rlcore_sampling_method", "rlcore_sampling"]),
    (
        "layer.rs",
        "Layers of networks",
        &[
            "rlcore_activation",
            "rlcore_layer_kind",
            "rlcore_layer_flag",
            "rlcore_initializer",
            "rlcore_layer",
            "rlcore_net",
        ],
    ),
    ("preset.rs", "Networks known by name", &["rlcore_net"]),
    ("learner_config.rs", "Configurations of learners", &["rlcore_algorithm", "rlcore_optimizer"]),
    ("learner_preset.rs", "Configurations known by name", &["rlcore_preset"]),
    ("learner.rs", "Learners: act, observe, learn", &["rlcore_learner_due"]),
    ("learner_scale.rs", "Learners on several threads, processes and machines", &[]),
    ("spaces.rs", "Spaces of environments and learners", &[]),
    ("collect.rs", "Collecting: steps of environments until a learner learns", &[]),
    ("policy.rs", "Policies: trained networks to ship", &[]),
    ("distribution.rs", "Distributions: answers of networks", &[]),
    ("imitation.rs", "Imitation: learning what the host shows", &[]),
    ("tensors.rs", "Tensors: the numbers of learners and policies by name", &["rlcore_tensors"]),
    ("carry.rs", "Learners that go on: another configuration, and what others have learned", &["rlcore_adopt"]),
    ("network.rs", "Networks of your own: forward and backward", &[]),
    ("onnx.rs", "ONNX: policies for other runtimes", &["rlcore_onnx_names"]),
    ("c_source.rs", "C: policies without a library", &[]),
    ("batch.rs", "Batches: asynchronous steps by the host's threads or processes", &[]),
    ("monitor.rs", "Episodes: returns, lengths, monitor.csv", &["rlcore_episode", "rlcore_episode_type"]),
    ("vec_normalize.rs", "Normalized observations and rewards of N environments", &[]),
    ("lazy_frames.rs", "Frame memories: each frame stored once, stacked on reading", &["rlcore_layout"]),
    ("table.rs", "Columns of memories, rollouts and trajectories", &["rlcore_column"]),
    ("memory.rs", "Replay memory: sequences of frames, balanced by reward", &["rlcore_draw_rule"]),
    ("replay.rs", "Replay memory: transitions, sampled by priority", &["rlcore_replay_normalize"]),
    ("relabel.rs", "Hindsight goal relabeling", &["rlcore_relabel_strategy"]),
    ("kernels.rs", "Advantages and returns", &["rlcore_accumulate"]),
    ("rows.rs", "Rows: copying, stacking and gathering", &["rlcore_rows_out"]),
    ("rollout_buffer.rs", "Rollouts: T steps of N environments, in minibatches", &["rlcore_metric"]),
    ("trajectory.rs", "Trajectories: one episode or a part of it", &["rlcore_reward_class"]),
    ("rollout_file.rs", "Rollouts as safetensors files", &["rlcore_rollout_absent"]),
    ("queue.rs", "Queues between actors and a learner", &[]),
    ("shifted.rs", "Advantages of rollouts with one done flag", &[]),
    ("transpose.rs", "Transposes", &[]),
    ("vtrace.rs", "V-trace", &[]),
    ("targets.rs", "Multi-step value targets", &[]),
    ("categorical.rs", "Categorical policies", &[]),
    ("gaussian.rs", "Gaussian policies", &[]),
    ("loss.rs", "Losses of networks of your own", &[]),
    ("autoencoder.rs", "Losses of autoencoders", &["rlcore_reconstruction_kind"]),
    ("optimizer.rs", "Initial weights and optimizers of networks of your own", &[]),
    ("moments.rs", "Means and variances", &[]),
    ("image.rs", "Images", &[]),
];

const INTRO: &str = r#"/* rlcore: the reinforcement-learning core that an engine links and hosts itself.

   Objects: every stateful object lives in a block, a piece of memory that you provide and own, 8-byte aligned. A block
     holds no pointers: copy its bytes and you have copied the object, write them to a file and you have saved it. There is
     nothing to free. Every object has the same lifecycle, here that of a monitor:
       rlcore_monitor_config config;    its configuration
       rlcore_monitor_config_init       fills in the defaults; then change what you like
       rlcore_monitor_size              returns the number of bytes that the block needs
       rlcore_monitor_init              creates the object in your memory; the handle is the address of that memory
       rlcore_monitor_step, ...         use it
       rlcore_monitor_attach            opens the bytes of a saved or copied object, in this process or another
     config_init writes sizeof config bytes, so that callers with an older, smaller structure are safe. attach only reads
     mem. It accepts blocks of 32-bit and 64-bit machines of the same byte order, and refuses any other.
     One object is no block: an rlcore_env, compiled from a definition with callbacks, belongs to its process and its place.
   Learners: act, observe and learn are the same calls for every algorithm; the configuration selects RLCORE_ALGORITHM_x:
       algorithm         actions                                     learns from                  networks
       PPO, A2C, IMPALA  discrete, continuous or structures of both  rollouts                     all layers
       UNREAL            as PPO                                      rollouts and earlier steps   all layers
       PQN               discrete, or structures of choices          rollouts                     all layers
       DQN               as PQN                                      stored transitions           all layers
       TD3               continuous, or structures of numbers        stored transitions           all layers without noise
       SAC               as PPO                                      stored transitions           all layers without noise
       STREAM_AC         as PPO                                      each step, not stored        dense layers
       STREAM_Q          as PQN                                      each step, not stored        layers without state
     PPO and IMPALA learn from earlier steps too where auxiliary tasks have weights.
     Observations are numbers, bytes, pictures, choices or structures of these. LSTM, GRU, minGRU and attention carry state
     from step to step.
   Arrays: dense, row-major, time-major. Each pointer's comment gives its shape; N = num_envs, T = num_steps. Flags are
     uint8_t: 0 is false, anything else is true. No output may overlap another array of the call. The library reads and
     writes arrays during the call only and keeps no pointer to them.
   Names: _size counts bytes, _len counts elements, num_ counts things; a range is [begin, end). Results are written
     through out or out_x, a single value unless a shape is given.
   Errors: a call that fails leaves outputs and blocks unchanged unless its comment says otherwise. rlcore_last_error()
     describes the failure. E_x stands for RLCORE_E_x. Comments list only the errors particular to a call; any call may
     also return:
       E_NULL      a required pointer is NULL
       E_ALIGN     a pointer is misaligned
       E_OVERFLOW  an array does not fit the address space
       E_OVERLAP   an output overlaps another array of the call
       E_IMAGE     a handle does not point to an object of its type
     and the lifecycle: config_init E_SIZE for a structure that is too small; size E_CONFIG; init E_CONFIG, and E_SIZE if
     mem_size is too small; attach and attach_reader E_SIZE if bytes are missing, and E_IMAGE for another kind of block,
     another version or byte order, or damaged bytes.
     A structure with struct_size may be shorter (an older header; the tail has its defaults) or longer (zeros).
   Threads: the library starts no threads and takes no locks. init and attach need exclusive access. Calls that take const
     objects may run concurrently. Other calls on one object may not, except _range calls on disjoint ranges and
     rlcore_batch_run.
   Numbers: results are bit-identical everywhere, provided that the floating-point environment is the default one: round to
     nearest, no trapping exceptions. If the host flushes subnormal numbers to zero (FTZ, DAZ), only results that are or
     come from such numbers differ. The library does not check the mode.
     Returns of episodes are sums of rewards in double, wherever a call reports, averages or stores them; a float that
     one is written to is the rounded sum.
     Inputs that are not finite return E_VALUE, and rlcore_last_error() names the row; rlcore_finite_rows finds all such
     rows. If finite inputs overflow, advantages, returns and other computed values become infinite with RLCORE_OK, or the
     NaN 0x7fc00000 where infinities cancel; no other NaN is ever written.
   Sharing: one process may write a block that others have mapped for reading: frames, memories, replays, rollouts,
     trajectories and monitors. A reader gets its handle from _attach_reader, which checks only what never changes, and
     makes the calls that take a const object. No call blocks. A call that copies checks afterwards whether the writer has
     overwritten or removed what it copied; if so, it returns E_RANGE and its outputs are undefined. It returns E_BUSY if
     the writer changes the object faster than it can be read. Drawn samples may be dropped before they are copied; the
     copy then returns E_RANGE. Appending invalidates only the oldest rows of a full ring. Memory that a call returns a
     pointer to is not checked. Readers need a 64-bit processor.
   Interrupted calls: a process can be killed within a call, while its block lies in a mapped file or in shared memory. Then
     the block is as it was before the call or as it is after the call, or attach refuses it with E_IMAGE. This holds for
     learners, policies, normalizers, memories, replays, rollouts, trajectories, frames, monitors and queues. To go on
     after a kill, keep two images in turn: examples-c/guides/saves-and-rollback.md. Environments (vecenv, batch) carry no
     such mark, since several threads step them at once: the rows that were being stepped may lie between two steps.

   Generated from the sources by `RLCORE_BLESS=1 cargo test --package rlcore-ffi --test header`. */
#ifndef RLCORE_H
#define RLCORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
"#;

const OUTRO: &str = r#"
#ifdef __cplusplus
}
#endif

#endif
"#;

fn generate() -> String {
    let mut header = String::from(INTRO);
    for (file, title, types) in SECTIONS {
        let mut config = cbindgen::Config::from_file(root().join("ffi/cbindgen.toml")).unwrap();
        config.export.include = types.iter().map(|t| t.to_string()).collect();
        let mut source = root().join("ffi/src").join(file);
        let expanded: Option<fn(&str) -> String> = match *file {
            "builtin.rs" => Some(env_table::expanded),
            "layer.rs" => Some(layer_table::expanded),
            "learner_config.rs" => Some(learner_config::expanded),
            "learner_preset.rs" => Some(preset_table::expanded),
            _ => None,
        };
        if let Some(expanded) = expanded {
            let text = expanded(&fs::read_to_string(source).unwrap());
            source = scratch("expanded").join(format!("{:?}.rs", std::thread::current().id()));
            fs::write(&source, text).unwrap();
        }
        let bindings = cbindgen::Builder::new().with_config(config).with_src(&source).generate().unwrap();
        let mut text = Vec::new();
        bindings.write(&mut text);
        let section = typeset(&String::from_utf8(text).unwrap());
        write!(header, "\n/* ---- {title} ---- */\n\n{section}").unwrap();
    }
    header + OUTRO
}

/// Puts short comments behind their declaration and long ones above it without a frame, and replaces `struct rlcore_x` by
/// `rlcore_x`.
fn typeset(text: &str) -> String {
    // A type of fixed width in every C and C++: `enum : int32_t` needs C23.
    let fixed = "\n#if __STDC_VERSION__ >= 202311L\n  : int32_t\n#endif // __STDC_VERSION__ >= 202311L\n {";
    let mut text = text.replace(&format!("enum rlcore_status{fixed}"), "typedef int32_t rlcore_status;\nenum {");
    if let (Some(begin), Some(end)) = (text.find("#if __STDC"), text.find("#endif // __STDC")) {
        text.replace_range(begin..end + text[end..].find('\n').unwrap() + 1, "");
    }

    let text = text.replace("struct rlcore_", "rlcore_").replace("typedef rlcore_", "typedef struct rlcore_");
    let mut out: Vec<String> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim() != "/*" {
            out.push(line.to_string());
            continue;
        }
        let indent = &line[..line.len() - 2];
        let words: Vec<&str> = lines
            .by_ref()
            .take_while(|l| l.trim() != "*/")
            .map(|l| l.get(indent.len() + 1..).unwrap_or("").trim_end())
            .collect();
        let mut words = &words[..];
        if let [group, own @ ..] = words
            && group.starts_with(learner_config::GROUP)
        {
            out.push(format!("\n{indent}/* {group} */"));
            words = own;
        }
        let member = lines.peek().unwrap();
        let above = words[0].starts_with(ABOVE);
        let behind = words.len() == 1 && !above && (!indent.is_empty() || member.starts_with("#define"));
        if behind {
            out.push(format!("{}\u{1}{}", lines.next().unwrap(), words[0]));
        } else {
            out.push(format!("{indent}/* {} */", words.join(&format!("\n{indent}   ")).replace(ABOVE, "")));
        }
    }
    align(&out)
}

/// Removes blank lines between constants, aligns the comments behind the lines of one list, and breaks long lines.
fn align(lines: &[String]) -> String {
    let commented = |line: Option<&String>| line.is_some_and(|l| l.contains('\u{1}'));
    let kept: Vec<&String> = (0..lines.len())
        .filter(|&i| !(lines[i].is_empty() && i > 0 && commented(lines.get(i - 1)) && commented(lines.get(i + 1))))
        .map(|i| &lines[i])
        .collect();
    let mut text = String::new();
    for list in kept.chunk_by(|a, b| a.contains('\u{1}') == b.contains('\u{1}')) {
        let column = list.iter().map(|l| l.find('\u{1}').unwrap_or(0)).max().unwrap();
        for line in list {
            match line.split_once('\u{1}') {
                Some((code, words)) => writeln!(text, "{code:column$}  /* {words} */").unwrap(),
                None => text.push_str(&(fold(line) + "\n")),
            }
        }
    }
    text
}

/// Breaks a declaration that is too long, with the next lines in the column of its first argument.
fn fold(line: &str) -> String {
    let Some(column) = line.rfind('(').map(|i| i + 1).filter(|_| line.ends_with(");") && line.len() > WIDTH) else {
        return line.to_string();
    };
    let mut folded = line[..column].to_string();
    let mut width = column;
    for argument in line[column..].split_inclusive(", ") {
        if width + argument.trim_end().len() > WIDTH {
            folded.truncate(folded.trim_end().len());
            folded += &format!("\n{:column$}", "");
            width = column;
        }
        folded += argument;
        width += argument.len();
    }
    folded
}

const WIDTH: usize = 120;

#[test]
fn the_headers_are_what_the_sources_say() {
    let header = generate();
    is_kept("include/rlcore.h", &header);
    for (number, line) in header.lines().enumerate() {
        assert!(line.len() <= WIDTH + 4, "include/rlcore.h:{}: {} columns", number + 1, line.len());
    }
    let (made, missing) = bindings(&header);
    is_kept("include/rlcore_bindings.h", &made);
    is_kept("ffi/dotnet/Rlcore.cs", &csharp::file(&header, &made));
    is_kept("tests/system/fuzz/learner_fields.h", &learner_config::limits());
    assert!(missing.is_empty(), "include/rlcore.h does not say it for bindings: {missing:#?}");
}

/// The bindings have no preprocessor lines and declare all of `rlcore.h` alike: a compiler accepts both together.
#[test]
fn the_bindings_are_plain_declarations_and_those_of_the_header() {
    let (made, _) = bindings(&generate());
    assert!(!made.contains('#'), "no preprocessor");
    let symbols = fs::read_to_string(root().join("ffi/golden/symbols.txt")).unwrap();
    for symbol in symbols.lines() {
        assert!(made.contains(&format!("{symbol}(")), "include/rlcore_bindings.h: no {symbol}");
    }
    let dir = scratch("bindings");
    fs::write(dir.join("rlcore_bindings.h"), &made).unwrap();
    // C allows a function to be declared twice if both declarations agree.
    let alone = "#include <stddef.h>\n#include <stdint.h>\n#include \"rlcore_bindings.h\"\n";
    let functions: String = made.split("\n\n").flat_map(|section| section.split_inclusive(";\n")).fold(
        String::from("#include \"rlcore.h\"\n"),
        |both, one| {
            if one.contains(";\n") && is_function(one) { both + one } else { both }
        },
    );
    for text in [alone, &functions] {
        fs::write(dir.join("bindings.c"), text).unwrap();
        let flags = ["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"];
        run(cc().args(flags).arg("-I").arg(&dir).arg("-I").arg(root().join("include")).arg(dir.join("bindings.c")));
    }
}

/// More arguments are hard to tell apart: they belong in a structure, whose fields have names.
#[test]
fn no_function_has_more_than_seven_parameters() {
    let entries = entries(&generate());
    let long = entries.iter().filter(|entry| entry.parameters.len() > 7);
    assert_eq!(long.map(|entry| entry.name.as_str()).collect::<Vec<_>>(), [""; 0]);
    assert!(entries.iter().any(|entry| entry.parameters.len() == 7), "parameters are counted");
}

/// Keywords of common languages, which no field or parameter may be named. Parameters, which callers do not spell, may be named
/// `out` (C#), `begin` and `end` (Lua, Julia).
const KEYWORDS: &str = "\
    abstract addrspace align allowzero and and_eq anyframe anytype as asm assert associatedtype async auto await base \
    baremodule begin bitand bitor bool boolean break byte case catch chan char checked class co_await co_return co_yield \
    compl comptime concept const consteval constexpr constinit continue crate debugger decimal decltype def default defer \
    deinit del delegate delete do double dyn elif else elseif end enum errdefer event except explicit export extends \
    extension extern fallthrough false fileprivate final finally fixed float fn for foreach friend from fun func function \
    gen global go goto guard if impl implements implicit import in init inline inout instanceof int interface internal is \
    lambda let linksection local lock long loop macro map match mod module move mut mutable namespace native new nil \
    noalias noexcept nonlocal noreturn not not_eq null nullptr object opaque operator or or_eq orelse out override package \
    packed params pass precedencegroup priv private protected protocol pub public quote raise range readonly ref register \
    repeat requires rethrows return sbyte sealed select self short signed sizeof stackalloc static strictfp string struct \
    subscript super suspend switch synchronized template test then this thread_local throw throws trait transient true try \
    type typealias typedef typeid typename typeof uint ulong unchecked union unreachable unsafe unsigned until use using \
    ushort val var virtual void volatile when where while with xor xor_eq yield";

#[test]
fn no_name_is_a_keyword_of_a_common_language() {
    let (made, _) = bindings(&generate());
    let keywords: Vec<&str> = KEYWORDS.split_whitespace().collect();
    let mut seen = 0;
    for line in made.lines().filter(|line| line.starts_with("  ")) {
        let (is_field, code) = (line.ends_with(';') && !line.ends_with(");"), line.trim_end_matches([';', ',', ')']));
        let name = code.split('[').next().unwrap();
        let name = name.rsplit(|c| !in_a_word(c)).next().unwrap();
        seen += 1;
        let allowed = !is_field && ["out", "begin", "end"].contains(&name);
        assert!(allowed || !keywords.contains(&name), "{name}: {line}");
    }
    assert!(seen > 500, "{seen} names");
}

fn is_function(code: &str) -> bool {
    !["typedef", "enum", "}", "  "].iter().any(|other| code.trim_start_matches('\n').starts_with(other))
        && code.contains('(')
}

#[test]
fn every_function_has_a_comment_with_shapes_statuses_and_threads() {
    let header = generate();
    let entries = entries(&header);
    let symbols = fs::read_to_string(root().join("ffi/golden/symbols.txt")).unwrap();
    for symbol in symbols.lines() {
        assert!(entries.iter().any(|e| e.name == symbol), "include/rlcore.h: {symbol} has no comment before it");
    }
    let mut missing = Vec::new();
    for (k, entry) in entries.iter().enumerate() {
        let text = said(&entries, k, &mut Vec::new());
        let is_status = header.contains(&format!("rlcore_status {}(", entry.name));
        if entry.name.ends_with("_range") && !text.contains("Threads:") {
            missing.push(format!("{} does not say which threads may call it", entry.name));
        }
        for parameter in entry.parameters.iter().filter(|p| p.contains('*') && !p.contains("rlcore_")) {
            let name = parameter.rsplit(['*', ' ']).next().unwrap();
            let known = ["mem", "user"].contains(&name) || name.starts_with("out_");
            if is_status && !known && !has_shape(&text, name, !parameter.starts_with("const ")) {
                missing.push(format!("{}: no shape of {parameter}", entry.name));
            }
        }
    }
    assert!(missing.is_empty(), "include/rlcore.h: {missing:#?}");
}

#[test]
fn the_header_compiles_as_c99_c11_and_cpp17() {
    let dir = scratch("standards");
    fs::write(dir.join("rlcore.h"), generate()).unwrap();
    let source = "#include \"rlcore.h\"\nint main(void) { return rlcore_version() == 0; }\n";
    for (file, standard) in [("header.c", "-std=c99"), ("header.c", "-std=c11"), ("header.cpp", "-std=c++17")] {
        fs::write(dir.join(file), source).unwrap();
        let mut compiler = if file.ends_with(".c") { cc() } else { cxx() };
        if file.ends_with(".cpp") {
            compiler.args(["-fno-exceptions", "-fno-rtti"]);
        }
        let flags = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"];
        run(compiler.arg(standard).args(flags).arg(dir.join(file)));
    }
}

#[test]
fn header_library_and_package_agree_on_the_version() {
    let (dir, library) = (scratch("header"), common::library());
    let (source, program) = (dir.join("version.c"), dir.join("version"));
    let text = r#"
        #include "rlcore.h"
        #include <stdio.h>
        int main(void) {
          unsigned v = rlcore_version();
          printf("%u.%u.%u\n", v >> 16, v >> 8 & 255, v & 255);
          printf("%d.%d.%d\n", RLCORE_VERSION_MAJOR, RLCORE_VERSION_MINOR, RLCORE_VERSION_PATCH);
          return rlcore_abi_version() != RLCORE_ABI_VERSION || rlcore_image_version() != RLCORE_IMAGE_VERSION;
        }"#;
    fs::write(&source, text).unwrap();
    run(cc()
        .arg("-I")
        .arg(root().join("include"))
        .arg(&source)
        .arg(library.join("librlcore.a"))
        .arg("-o")
        .arg(&program));
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let line = manifest.lines().find(|l| l.starts_with("version = ")).unwrap();
    let version = line.split('"').nth(1).unwrap();
    assert_eq!(env!("CARGO_PKG_VERSION"), version, "ffi/Cargo.toml and Cargo.toml");
    assert_eq!(run(&mut std::process::Command::new(program)), format!("{version}\n{version}\n"));
}
