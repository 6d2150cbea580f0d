//! Every C example compiles without a warning, runs, and prints the text of its file in `expected`; every environment ends a
//! short training with its published hash. `examples-c/Makefile` has the rules, and the tests build in its folder, so that its
//! other goals find the results. Together these tests are its goal `check`.

#![cfg(unix)]

use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// One `make` at a time: the examples share their object files.
static MAKE: Mutex<()> = Mutex::new(());

fn make(goals: &[&str]) {
    let _alone = MAKE.lock().unwrap_or_else(PoisonError::into_inner);
    let run = Command::new("make")
        .args(["--no-print-directory", "-C", concat!(env!("CARGO_MANIFEST_DIR"), "/../examples-c")])
        .arg(format!("CARGO={}", env!("CARGO")))
        .args(goals)
        .env_remove("MAKEFLAGS")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .output()
        .expect("make starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(run.status.success(), "make {goals:?}\n{}{}", text(&run.stdout), text(&run.stderr));
}

#[test]
fn train_solves_cartpole_without_the_heap() {
    make(&["check-train"]);
}

#[test]
fn minimal_trains_in_24_lines() {
    make(&["check-minimal"]);
}

#[test]
fn minimal_trains_the_same_in_cpp() {
    make(&["check-minimal-cpp"]);
}

#[test]
fn policy_plays_without_the_learner() {
    make(&["check-policy"]);
}

#[test]
fn slices_of_learning_give_the_same_bytes() {
    make(&["check-slices"]);
}

#[test]
fn a_herd_that_comes_and_goes_learns_while_the_game_runs() {
    make(&["check-herd"]);
}

#[test]
fn an_action_that_is_a_structure_is_learned() {
    make(&["check-hybrid"]);
}

#[test]
fn scripts_and_teachers_are_imitated() {
    make(&["check-teach"]);
}

#[test]
fn pictures_of_the_games_own_camera_are_learned_from() {
    make(&["check-pixels"]);
}

#[test]
fn threads_that_share_chunks_learn_the_same_bytes() {
    make(&["check-chunks"]);
}

#[test]
fn processes_that_share_chunks_learn_the_same_bytes_and_one_may_die() {
    make(&["check-processes"]);
}

#[test]
fn workers_of_a3c_learn_as_a2c_does_and_one_may_die() {
    make(&["check-a3c"]);
}

#[test]
fn one_learner_answers_actors_and_one_may_die() {
    make(&["check-impala"]);
}

#[test]
fn a_folder_of_learners_and_policies_is_loaded_and_played() {
    make(&["check-league"]);
}

#[test]
fn threads_give_the_same_bytes() {
    make(&["check-threads"]);
}

#[test]
fn forked_processes_give_the_same_bytes_and_one_may_die() {
    make(&["check-subproc"]);
}

#[test]
fn a_pool_of_cpp_threads_gives_the_same_bytes() {
    make(&["check-workers"]);
}

#[test]
fn an_atari_screen_wears_every_wrapper() {
    make(&["check-atari"]);
}

#[test]
fn a_planner_with_copied_rows_beats_random_actions() {
    make(&["check-planner"]);
}

#[test]
fn an_autoencoder_learns_pictures_and_a_learner_takes_its_layers() {
    make(&["check-autoencoder"]);
}

#[test]
fn a_rollout_in_a_file_is_what_the_learner_recorded() {
    make(&["check-record"]);
}

#[test]
fn vtrace_learns_from_what_another_policy_did() {
    make(&["check-vtrace"]);
}

#[test]
fn goals_are_reached_with_hindsight_from_the_hosts_own_store() {
    make(&["check-goals"]);
}

#[test]
fn another_process_resumes_to_the_same_bytes() {
    make(&["check-resume"]);
}

#[test]
fn a_training_that_is_killed_again_and_again_loses_nothing() {
    make(&["check-save"]);
}

#[test]
fn a_replay_memory_is_saved_and_draws_by_priority() {
    make(&["check-replay"]);
}

#[test]
fn every_environment_reaches_its_published_hash() {
    make(&["check-envs"]);
}

#[test]
fn every_cpu_level_gives_the_same_bits() {
    make(&["check-cpu"]);
}

#[test]
fn the_readme_shows_the_minimal_example() {
    let [readme, minimal] = [include_str!("../../README.md"), include_str!("../../examples-c/training/minimal.c")];
    assert!(readme.contains(minimal), "README.md shows another minimal.c");
}
