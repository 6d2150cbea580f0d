//! Tables of the results of `cargo bench` so far: `cargo bench --bench table` prints them, `-- --write README.md` puts the
//! second one between the file's lines `<!-- bench -->` and `<!-- /bench -->`.
//!
//! The first lists every kernel with its bytes and its share of the limit. The second lists selected benches for readers, and
//! other packages beside them if benches/peers.sh has found these installed and timed them on this machine.

mod limit;

use std::fs;
use std::path::Path;

/// Rows of the table in benches/README.md: a label, and the benches whose numbers stand side by side.
const ROWS: [(&str, &[&str]); 23] = [
    ("CartPole-v1 steps, N = 1 / 64 / 4096", &["env_CartPole-v1/N1", "env_CartPole-v1/N64", "env_CartPole-v1/N4096"]),
    ("MountainCar-v0", &["env_MountainCar-v0/N1", "env_MountainCar-v0/N64", "env_MountainCar-v0/N4096"]),
    ("Acrobot-v1", &["env_Acrobot-v1/N1", "env_Acrobot-v1/N64", "env_Acrobot-v1/N4096"]),
    ("Pendulum-v1", &["env_Pendulum-v1/N1", "env_Pendulum-v1/N64", "env_Pendulum-v1/N4096"]),
    ("Atari list around a source of ready screens, steps of N = 1 / 16", &["wrap_atari/N1", "wrap_atari/N16"]),
    (
        "pixels of the larger of two screens, shrunk to 84 × 84: gray / color",
        &["warp/gray/2 noise", "warp/rgb/2 noise"],
    ),
    ("pictures of 84 × 84 × 4 to numbers from 0 to 1, bytes", &["picture/scale"]),
    ("transitions of 84 × 84 × 4 from frames kept once", &["frames/transitions_hwc-u8/B32"]),
    (
        "GAE, T = 128, N = 8 / 256 / 4096 / 65536",
        &["gae/T128xN8", "gae/T128xN256", "gae/T128xN4096", "gae/T128xN65536"],
    ),
    (
        "V-trace, T = 80, N = 32 / 512 / 4096",
        &["vtrace/weights/T80xN32", "vtrace/weights/T80xN512", "vtrace/weights/T80xN4096"],
    ),
    (
        "the same from logits of 18 actions",
        &["vtrace/logits/T80xN32xA18", "vtrace/logits/T80xN512xA18", "vtrace/logits/T80xN4096xA18"],
    ),
    ("[N, T] laid out as [T, N], N = 256 / 4096", &["transpose/N256xT128xD1", "transpose/N4096xT128xD1"]),
    (
        "observations into running moments, normalized: 64 × 17 / 4096 × 64",
        &["moments/vec_normalize/N64xD17", "moments/vec_normalize/N4096xD64"],
    ),
    (
        "logits of 18 actions: draw / log-probability and entropy",
        &["categorical/sample/B256xA18", "categorical/evaluate/B256xA18"],
    ),
    (
        "proportional replay of a million, batches of 32 / 256 / 4096: draw",
        &["priority/stratified/B32", "priority/stratified/B256", "priority/stratified/B4096"],
    ),
    ("new priorities", &["priority/update/B32", "priority/update/B256", "priority/update/B4096"]),
    (
        "replay balanced by reward: frames added to the index / with their fields / sequences drawn",
        &["memory/index_add/n20", "memory/add/n20", "memory/sample_priority/B256"],
    ),
    ("transitions of CartPole from random places, 256 / 4096", &["gather/cartpole/B256", "gather/cartpole/B4096"]),
    (
        "rollout, 256 × 64 steps of 16 bytes: added / in minibatches of 2048",
        &["rollout/add/T256xN64x16B-64", "rollout/gather/T256xN64x16B-2048"],
    ),
    ("network 4-64-64-2, tanh, rows: 1 / 256", &["mlp_4-64-64-2/tanh_infer/B1", "mlp_4-64-64-2/tanh_infer/B256"]),
    ("the same, there and back, 256", &["mlp_4-64-64-2/tanh_forward_backward/B256"]),
    ("PPO at CleanRL's settings for CartPole, steps", &["train/cartpole_4x128-64-64-tanh"]),
    ("PPO at RLtools' settings for Pendulum, steps", &["train/pendulum_4x1024-64-64-relu"]),
];

/// The stored results of a bench.
struct Bench {
    seconds: f64,
    /// Elements or bytes of one call.
    count: f64,
    /// Bytes, share and name of the limit, as `limit` wrote them.
    limit: Option<(String, String, String)>,
}

fn read(folder: &Path) -> Option<Bench> {
    let estimates = fs::read_to_string(folder.join("new/estimates.json")).ok()?;
    let benchmark = fs::read_to_string(folder.join("new/benchmark.json")).ok()?;
    let count = ["\"Elements\":", "\"Bytes\":"].iter().find_map(|kind| limit::number_after(&benchmark, &[kind]));
    let limit = fs::read_to_string(folder.join("limit.txt")).ok().and_then(|line| {
        let mut words = line.trim_end().splitn(3, ' ').map(String::from);
        Some((words.next()?, words.next()?, words.next()?))
    });
    let seconds = limit::number_after(&estimates, &["\"median\"", "\"point_estimate\":"])? / 1e9;
    Some(Bench { seconds, count: count.unwrap_or(1.0), limit })
}

/// Calls `each` with every bench below `folder`, in order.
fn walk(folder: &Path, name: &str, each: &mut impl FnMut(&str, &Bench)) {
    if let Some(bench) = read(folder) {
        return each(name, &bench);
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut names: Vec<_> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    for entry in names {
        walk(&folder.join(&entry), format!("{name}/{entry}").trim_start_matches('/'), each);
    }
}

/// Three significant digits, or three decimals below 1.
fn short(x: f64) -> String {
    let digits = if x >= 100.0 {
        0
    } else if x >= 10.0 {
        1
    } else if x >= 1.0 {
        2
    } else {
        3
    };
    format!("{x:.digits$}")
}

/// The processor's name in /proc/cpuinfo, and the CPU level of kernels on it.
fn machine() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let name = name.map_or("this processor".into(), |(_, name)| name.replace("(R)", "").replace("(TM)", ""));
    format!("one core of {} ({:?})", name.trim(), rlcore::cpu::level())
}

/// The lines of peers.tsv: bench, other package, its elements per second.
fn peers(results: &Path) -> Vec<(String, String, f64)> {
    let text = fs::read_to_string(results.join("peers.tsv")).unwrap_or_default();
    let line = |line: &str| {
        let mut words = line.split('\t').map(String::from);
        Some((words.next()?, words.next()?, words.next()?.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn table(results: &Path) -> String {
    let peers = peers(results);
    let mut text = format!("| million a second on {} | rlcore | share of the limit | others |\n", machine());
    text += "|---|---|---|---|\n";
    for (what, ids) in ROWS {
        let benches: Vec<_> = ids.iter().map(|id| read(&results.join(id))).collect();
        if benches.iter().all(Option::is_none) {
            continue;
        }
        let cell = |of: &dyn Fn(&Bench) -> String| {
            let cells = benches.iter().map(|bench| bench.as_ref().map_or("–".into(), of));
            cells.collect::<Vec<String>>().join(" / ")
        };
        let speed = cell(&|b| short(b.count / b.seconds / 1e6));
        let share = cell(&|b| {
            b.limit.as_ref().map_or("–".into(), |(_, share, _)| format!("{:.2}", share.parse().unwrap_or(0.0)))
        });
        let mark = match benches.iter().flatten().find_map(|b| b.limit.as_ref()) {
            Some((_, _, of)) if of.contains("multiply") => " of arithmetic",
            Some(_) => " of a copy",
            None => "",
        };
        let mut names: Vec<&String> = peers.iter().filter(|p| ids.contains(&&p.0[..])).map(|p| &p.1).collect();
        names.sort();
        names.dedup();
        let others: Vec<String> = names
            .iter()
            .map(|name| {
                let of = |id: &&str| peers.iter().find(|p| p.0 == *id && p.1 == **name);
                let cells: Vec<_> = ids.iter().map(|id| of(id).map_or("–".into(), |p| short(p.2 / 1e6))).collect();
                format!("{name}: {}", cells.join(" / "))
            })
            .collect();
        text += &format!("| {what} | {speed} | {share}{mark} | {} |\n", others.join("; "));
    }
    text
}

fn main() {
    let results = limit::results();
    println!("{:48} {:>12} {:>12} {:>12}  share of its limit", "kernel", "bytes", "us", "million/s");
    walk(&results, "", &mut |name, bench| {
        let (bytes, share, of) = bench.limit.clone().unwrap_or_default();
        let (us, rate) = (bench.seconds * 1e6, bench.count / bench.seconds / 1e6);
        println!("{name:48} {bytes:>12} {us:>12.3} {:>12}  {share} {of}", short(rate));
    });
    for (id, name, rate) in peers(&results) {
        println!("{id:48} {name}: {} million/s", short(rate / 1e6));
    }
    let table = table(&results);
    println!("\n{table}");
    let args: Vec<String> = std::env::args().collect();
    if let Some(file) = args.iter().position(|arg| arg == "--write").and_then(|i| args.get(i + 1)) {
        const MARKS: [&str; 2] = ["<!-- bench -->\n", "<!-- /bench -->"];
        let text = fs::read_to_string(file).expect("a file to write to");
        let parts = text.split_once(MARKS[0]).and_then(|(a, rest)| Some((a, rest.split_once(MARKS[1])?.1)));
        let (before, after) = parts.expect("a line <!-- bench --> and a line <!-- /bench --> after it");
        fs::write(file, format!("{before}{}{table}{}{after}", MARKS[0], MARKS[1])).expect("a file that can be written");
        println!("wrote {file}");
    }
}
