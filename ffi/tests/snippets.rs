//! Each example in the comments of `include/rlcore.h` compiles unchanged, in C and in C++. An example is the indented text below
//! a line `Example:`; code anywhere else in a comment is an error.

mod common;

use common::{cc, cxx, root, run, scratch};
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// Variables that an example uses and does not declare, by the first function that it calls or by its first type.
const USES: &[(&str, &str)] = &[
    ("rlcore_rng", "void"),
    (
        "rlcore_learner_act",
        "rlcore_learner *agent, rlcore_vecenv *envs, rlcore_env *env, rlcore_rows rows, rlcore_learner_stats stats",
    ),
    (
        "rlcore_vecenv_config_init",
        "rlcore_env *env, rlcore_vecenv_config config, size_t size, void *mem, rlcore_vecenv *v, int running, \
         rlcore_rows rows",
    ),
    (
        "rlcore_env_size",
        "rlcore_env_def def, size_t size, void *mem, rlcore_env *env, rlcore_space obs, rlcore_space action",
    ),
    ("const rlcore_layer", "rlcore_learner_config config"),
    ("rlcore_tensor", "rlcore_learner *agent, float *values, size_t params_len"),
    ("rlcore_learner_config", "rlcore_learner *agent"),
    ("rlcore_learner_adopt", "rlcore_learner *alone, const rlcore_learner *agent"),
    ("rlcore_learner_set_trainable", "rlcore_learner *agent"),
    ("rlcore_policy_onnx_size", "const rlcore_policy *policy, size_t size, uint8_t *bytes"),
    ("rlcore_policy_c_size", "const rlcore_policy *policy, size_t size, uint8_t *bytes"),
    ("rlcore_layer", "rlcore_learner_config config"),
    (
        "rlcore_batch_size",
        "rlcore_env *env, rlcore_vecenv_config vecenv_config, rlcore_batch_config config, size_t size, void *mem, \
         rlcore_batch *b, rlcore_vecenv *v, uint32_t worker, uint32_t count, rlcore_status status, rlcore_rows rows",
    ),
    (
        "rlcore_monitor_config_init",
        "rlcore_monitor_config config, size_t size, void *mem, rlcore_monitor *m, rlcore_rows rows, double seconds, \
         rlcore_monitor_stats stats",
    ),
    (
        "rlcore_vec_normalize_config_init",
        "rlcore_vec_normalize_config config, size_t size, void *mem, rlcore_vec_normalize *v, float *obs, \
         rlcore_rows rows",
    ),
    (
        "rlcore_lazy_frames_config_init",
        "rlcore_lazy_frames_config config, size_t size, void *mem, rlcore_lazy_frames *l, uint32_t env, \
         const uint8_t *frame, uint32_t first, uint64_t number, uint8_t *stack, const rlcore_frame_index *index, \
         uint32_t num_rows, float *obs, float *next_obs",
    ),
    (
        "rlcore_memory_config_init",
        "rlcore_memory_config config, const rlcore_column *columns, size_t size, void *mem, rlcore_memory *m, \
         rlcore_frame frame, const void *const *values, rlcore_rng rng, rlcore_sample *samples, uint32_t num_samples, \
         rlcore_sequences sequences, uint32_t column, float *out",
    ),
    (
        "rlcore_replay_config_init",
        "rlcore_replay_config config, const rlcore_column *columns, size_t size, void *mem, rlcore_replay *r, \
         const void *const *values, const float *reward, const uint8_t *terminated, const uint8_t *truncated, \
         const void *const *final_values, rlcore_rng rng, uint32_t num_rows, rlcore_replay_draw draw, rlcore_frame_index *index, \
         float *weight, uint32_t column, float *obs, const float *priority",
    ),
    (
        "rlcore_rollout_buffer_config_init",
        "rlcore_rollout_buffer_config config, const rlcore_column *columns, size_t size, void *mem, \
         rlcore_rollout_buffer *b, rlcore_rollout_step step, const float *bootstrap_value, const void *next_obs, \
         float discount, float gae_lambda, uint32_t minibatch_size, uint32_t *index, uint32_t index_len, uint32_t k, \
         rlcore_minibatch minibatch",
    ),
    (
        "rlcore_trajectory_config_init",
        "rlcore_trajectory_config config, const rlcore_column *columns, size_t size, void *mem, rlcore_trajectory *t, \
         rlcore_trajectory_frames frames, float discount, float gae_lambda, float bootstrap_value, \
         rlcore_trajectory_rows rows",
    ),
    ("rlcore_queue_config_init", "rlcore_queue_config config, size_t size, void *mem, rlcore_queue *q, uint64_t item"),
    ("rlcore_vtrace_init", "rlcore_vtrace v, const float *log_rho, float *vs, float *pg_advantage"),
    ("const rlcore_reset", "int level, rlcore_vecenv *v, rlcore_env *env, rlcore_rows rows"),
    (
        "rlcore_vecenv_reset",
        "rlcore_learner *agent, rlcore_vecenv *envs, rlcore_env *env, int training, rlcore_rows rows, \
         rlcore_learner_stats stats",
    ),
    (
        "const rlcore_network",
        "const rlcore_layer *layers, uint32_t num_rows, rlcore_rng rng, float *scratch, float *params, \
         rlcore_network_pass pass, float *out, const float *d_out, float *d_params",
    ),
    (
        "rlcore_latent_sample",
        "rlcore_latent codes, float *z, const float *d_z, float *d_mean, float *d_log_std, float kl",
    ),
    ("const rlcore_weights", "rlcore_rng rng, float *scratch, size_t scratch_len, float *weights"),
];

/// The examples of a header, each with the number of its first line, and other lines of comments that look like code.
fn examples(header: &str) -> (Vec<(usize, String)>, Vec<String>) {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let (mut examples, mut strays, mut in_comment) = (Vec::new(), Vec::new(), false);
    let mut lines = header.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        in_comment |= line.trim_start().starts_with("/*");
        let ends = line.ends_with("*/");
        if in_comment && line.trim_start_matches(['/', '*', ' ']) == "Example:" {
            let column = line.find("Example:").unwrap();
            let mut code = String::new();
            while in_comment && lines.peek().is_some_and(|(_, next)| indent(next) > column) {
                let (_, next) = lines.next().unwrap();
                in_comment = !next.ends_with("*/");
                writeln!(code, "{}", next.trim_end_matches("*/").trim_end()).unwrap();
            }
            examples.push((number + 2, code));
            continue;
        }
        let code = line.trim_start();
        let call = code.starts_with("rlcore_") && code.contains('(') && code.contains(';');
        if in_comment && (call || code.contains("{.")) {
            strays.push(line.to_string());
        }
        in_comment &= !ends;
    }
    (examples, strays)
}

#[test]
fn every_example_of_the_header_compiles_in_c_and_cpp() {
    let header = fs::read_to_string(root().join("include/rlcore.h")).unwrap();
    let (examples, strays) = examples(&header);
    assert!(strays.is_empty(), "include/rlcore.h: no \"Example:\" above {strays:#?}");
    let begins =
        |code: &str, name: &str| code.trim_start().strip_prefix(name).is_some_and(|x| x.starts_with([' ', '(']));
    let unused = USES.iter().find(|(name, _)| !examples.iter().any(|(_, code)| begins(code, name)));
    assert!(unused.is_none(), "no example begins with {unused:?}");
    let mut source = String::from("#include \"rlcore.h\"\nenum { T = 8, N = 4, LEN = 3 };\n");
    for (k, (line, code)) in examples.iter().enumerate() {
        let (_, uses) = USES
            .iter()
            .find(|(name, _)| begins(code, name))
            .unwrap_or_else(|| panic!("include/rlcore.h:{line}: which variables does this example use?\n{code}"));
        writeln!(source, "void example_{k}({uses});\nvoid example_{k}({uses}) {{").unwrap();
        write!(source, "#line {line} \"rlcore.h\"\n{code}}}\n").unwrap();
    }
    let dir = scratch("snippets");
    let clang = |name: &str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    for (file, standard) in [("c", "c11"), ("c", "c17"), ("cpp", "c++17"), ("cpp", "c++20")] {
        let path = dir.join(format!("examples.{file}"));
        fs::write(&path, &source).unwrap();
        let mut compilers = vec![if file == "c" { cc() } else { cxx() }];
        let other = if file == "c" { "clang" } else { "clang++" };
        if clang(other) {
            compilers.push(Command::new(other));
        }
        for mut compiler in compilers {
            compiler.args(["-Wall", "-Wextra", "-Werror", "-Wno-unused-but-set-parameter", "-fsyntax-only"]);
            compiler.arg(format!("-std={standard}"));
            // Designated initializers are a compiler extension in C++17; fields that they leave out are zero.
            match standard {
                "c++17" => compiler.args([
                    "-Wno-missing-field-initializers",
                    "-Wno-unknown-warning-option",
                    "-Wno-c++20-designator",
                ]),
                "c++20" => compiler.args(["-pedantic", "-Wno-missing-field-initializers"]),
                _ => compiler.arg("-pedantic"),
            };
            run(compiler.arg("-I").arg(root().join("include")).arg(&path));
        }
    }
}

/// The search finds both an example and code without `Example:` above it.
#[test]
fn code_outside_of_examples_is_seen() {
    let header =
        "/* A.\n   Example:\n     rlcore_a(&b);   // once\n   C. */\nvoid d(void);\n/* E:\n     rlcore_f(g); */\n";
    let (found, strays) = examples(header);
    assert_eq!(found, [(3, "     rlcore_a(&b);   // once\n".to_string())]);
    assert_eq!(strays, ["     rlcore_f(g); */"]);
}
