//! The C program in the README is the example that is compiled, run and checked.

use std::fs;

#[test]
fn the_readme_shows_the_example_that_is_run() {
    let root = env!("CARGO_MANIFEST_DIR");
    let readme = fs::read_to_string(format!("{root}/README.md")).unwrap();
    let example = fs::read_to_string(format!("{root}/examples-c/minimal.c")).unwrap();
    assert!(
        readme.contains(&format!("```c\n{example}```\n")),
        "README.md shows another text than examples-c/minimal.c"
    );
    assert!(example.lines().count() <= 25, "a reader was promised 25 lines");
}
