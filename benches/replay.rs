//! Replay memories of one million frames: frames added, sequences drawn and frames copied per second.
//!
//! `memory`: `draw` is two random numbers, a coin and an index, the minimum for drawing a sequence. `index/add` adds a frame
//! without its columns; `add` and `add_rollout` add whole frames, with columns of 4 floats and 1 integer, in rollouts of 20.
//! Drawn sequences have 20 frames, from episodes of 200 on average; one frame in ten is a priority frame. `gather` copies the
//! observations and rewards of drawn sequences.
//!
//! `gather/<columns>/B<rows>`: rows of a table, against `copy`. `cartpole` is a transition of CartPole in five columns, 41
//! bytes per row, `bytes` a single column, both of 1,000,000 rows; `frames` and `stacks` read 20,000 frames of 84x84, alone
//! and in stacks of 4. `copy` writes the same bytes from the same random places, column after column; the slots and the length
//! of each copy are known beforehand. 64 batches of random row numbers are used in turn, each just written, as by a sampler,
//! so that it is in the core's cache.

mod limit;

use criterion::measurement::WallTime;
use criterion::{Bencher, BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group};
use rlcore::block::{Cutter, Plan};
use rlcore::data::memory::{self, Draw, Frame, FramesOut, Memory, MemoryConfig, Rule, Sample};
use rlcore::data::table::{Column, FrameIndex, Table, TableConfig, View, spans};
use rlcore::kernels::stack::Layout;
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut};
use std::hint::black_box;
use std::time::{Duration, Instant};

const FRAMES: u32 = 1_000_000;
const BATCH: usize = 256;
const LEN: usize = 20;

/// A stream of episodes.
fn frames(count: usize) -> Vec<Frame> {
    let rng = &mut Rng::seeded(2);
    let mut next = Frame::default();
    let frames = (0..count).map(|_| {
        let frame =
            Frame { reward: if rng.bounded(9) == 0 { 1.0 } else { 0.0 }, terminated: rng.bounded(199) == 0, ..next };
        let (episode, step) = if frame.terminated { (frame.episode + 1, 0) } else { (frame.episode, frame.step + 1) };
        next = Frame { episode, step, ..next };
        frame
    });
    frames.collect()
}

fn bench_memory(c: &mut Criterion) {
    let columns = [Column::new("obs", Element::F32, 4), Column::new("action", Element::I32, 1)];
    let config = MemoryConfig { max_sample_size: LEN as u32, ..MemoryConfig::new(FRAMES, &columns) };
    let mut block = vec![0u64; Memory::size(&config).unwrap() / 8];
    let mut memory = Memory::init(bytemuck::cast_slice_mut(&mut block), &config).unwrap();
    let stream = frames(2 * FRAMES as usize);
    for frame in &stream[..FRAMES as usize + 1000] {
        memory.add(frame, &ROW).unwrap();
    }
    let mut group = c.benchmark_group("memory");
    bench_samples(&mut group, &memory.view());
    bench_adds(&mut group, &mut memory, &stream);
}

/// A row of the columns of a memory.
const ROW: [Elements<'_>; 2] = [Elements::F32(&[0.5; 4]), Elements::I32(&[3])];

/// Drawn sequences, and the gathering of their columns.
fn bench_samples(group: &mut BenchmarkGroup<'_, WallTime>, view: &memory::View<'_>) {
    let rng = &mut Rng::seeded(1);
    group.throughput(Throughput::Elements(BATCH as u64));
    group.bench_function(BenchmarkId::new("draw", format!("B{BATCH}")), |b| {
        b.iter(|| {
            for _ in 0..BATCH {
                black_box((rng.bounded(1), rng.bounded(u64::from(FRAMES) - 1)));
            }
        })
    });
    let mut samples = [Sample::default(); BATCH];
    let usual = Draw::default();
    for (name, draw) in [
        ("sample_priority", usual),
        ("sample_priority/exact", Draw { exact_size: true, ..usual }),
        ("sample_priority/burn_in", Draw { burn_in: 10, ..usual }),
        ("sample_priority/original", Draw { rule: Rule::Original, ..usual }),
    ] {
        for batch in [1, BATCH] {
            group.throughput(Throughput::Elements(batch as u64));
            group.bench_function(BenchmarkId::new(name, format!("B{batch}")), |b| {
                b.iter(|| view.sample_priority(&draw, rng, black_box(&mut samples[..batch])).unwrap())
            });
        }
    }
    for (name, draw) in [
        ("sample_uniform", usual),
        ("sample_uniform/exact", Draw { exact_size: true, ..usual }),
        ("sample_uniform/original", Draw { rule: Rule::Original, ..usual }),
    ] {
        for batch in [1, BATCH] {
            group.throughput(Throughput::Elements(batch as u64));
            group.bench_function(BenchmarkId::new(name, format!("B{batch}")), |b| {
                b.iter(|| view.sample_uniform(&draw, rng, black_box(&mut samples[..batch])).unwrap())
            });
        }
    }
    view.sample_priority(&usual, rng, &mut samples).unwrap();
    let (mut obs, mut reward) = (vec![0.0; BATCH * LEN * 4], vec![0.0; BATCH * LEN]);
    group.throughput(Throughput::Elements((BATCH * LEN) as u64));
    group.bench_function(BenchmarkId::new("gather", format!("B{BATCH}xL{LEN}")), |b| {
        b.iter(|| {
            view.gather(0, &samples, LEN, Layout::Hwc, ElementsMut::F32(&mut obs)).unwrap();
            let out = FramesOut { reward: Some(&mut reward), ..FramesOut::default() };
            view.gather_frames(&samples, LEN, out).unwrap();
        })
    });
    limit::copy("memory", ["gather", &format!("B{BATCH}xL{LEN}")], BATCH * LEN * 2 * 20);
}

/// Frames added, alone and in rollouts.
fn bench_adds(group: &mut BenchmarkGroup<'_, WallTime>, memory: &mut Memory<'_>, stream: &[Frame]) {
    const ROLLOUT: usize = 20;
    group.throughput(Throughput::Elements(ROLLOUT as u64));
    let rows = [Elements::F32(&[0.5; 4 * ROLLOUT]), Elements::I32(&[3; ROLLOUT])];
    let mut rollouts = stream.chunks_exact(ROLLOUT).cycle();
    group.bench_function(BenchmarkId::new("add_rollout", format!("n{ROLLOUT}")), |b| {
        b.iter(|| memory.add_rollout(rollouts.next().unwrap().iter().copied(), &rows))
    });
    group.bench_function(BenchmarkId::new("add", format!("n{ROLLOUT}")), |b| {
        b.iter(|| rollouts.next().unwrap().iter().filter(|frame| memory.add(frame, &ROW).is_ok()).count())
    });
    let mut end = memory.view().held().end;
    group.bench_function(BenchmarkId::new("index/add", format!("n{ROLLOUT}")), |b| {
        b.iter(|| {
            for frame in rollouts.next().unwrap() {
                end += u64::from(memory.index.add(end, frame).is_ok());
            }
        })
    });
    // A frame is read and written, with its 20 bytes of columns or without.
    let frame = size_of::<Frame>();
    limit::copy("memory", ["add_rollout", &format!("n{ROLLOUT}")], ROLLOUT * 2 * (frame + 20));
    limit::copy("memory", ["add", &format!("n{ROLLOUT}")], ROLLOUT * 2 * (frame + 20));
    limit::copy("memory", ["index/add", &format!("n{ROLLOUT}")], ROLLOUT * 2 * frame);
}

/// Calls `body` with a table whose only ring is full.
fn with_table(num_rows: usize, columns: &[Column], push: impl Fn(usize, &mut Table<'_>), body: impl FnOnce(&View<'_>)) {
    let config = TableConfig::new(1, num_rows as u32, columns);
    let mut plan = Plan::default();
    let spans = spans(&mut plan, &config).unwrap();
    let mut block = vec![0u64; plan.size().unwrap() / 8];
    let mut table = Table::cut(&mut Cutter::new(bytemuck::cast_slice_mut(&mut block)), &spans, &config, 0).unwrap();
    for i in 0..num_rows + num_rows / 3 {
        push(i, &mut table);
    }
    body(&table.view());
}

const BATCHES: usize = 64;

fn index(view: &View<'_>, len: usize) -> (Vec<FrameIndex>, Vec<u32>) {
    let (rng, drawable) = (&mut Rng::seeded(1), view.whole(0).unwrap());
    let index: Vec<_> = (0..len)
        .map(|_| FrameIndex::new(0, drawable.start + rng.next_u64() % (drawable.end - drawable.start)))
        .collect();
    let slots = index.iter().map(|i| (i.number % u64::from(view.config.num_rows)) as u32).collect();
    (index, slots)
}

/// Times `body` on the batches of `list` in turn, each copied to `hot` just before.
fn each<T: Copy>(b: &mut Bencher<'_>, list: &[T], batch: usize, mut body: impl FnMut(&[T])) {
    let (mut hot, mut batches) = (list[..batch].to_vec(), list.chunks_exact(batch).cycle());
    let mut one = |_| {
        hot.copy_from_slice(batches.next().unwrap());
        let start = Instant::now();
        body(black_box(&hot));
        start.elapsed()
    };
    b.iter_custom(|n| (0..n).map(&mut one).sum());
}

/// Copies the rows of `W` bytes in `slots`.
fn copy<const W: usize>(bytes: &[u8], slots: &[u32], out: &mut [u8]) {
    let rows = bytes.as_chunks::<W>().0;
    for (to, slot) in out.as_chunks_mut::<W>().0.iter_mut().zip(slots) {
        *to = rows[*slot as usize];
    }
    black_box(out);
}

fn bench_cartpole(c: &mut Criterion) {
    let columns = [
        Column::new("obs", Element::F32, 4),
        Column::new("next_obs", Element::F32, 4),
        Column::new("action", Element::I32, 1),
        Column::new("reward", Element::F32, 1),
        Column::new("terminated", Element::U8, 1),
    ];
    let push = |i: usize, table: &mut Table<'_>| {
        let x = [i as f32, 1.0, 2.0, 3.0];
        let (obs, action) = (Elements::F32(&x), [i as i32]);
        let row = [obs, obs, Elements::I32(&action), Elements::F32(&x[..1]), Elements::U8(&[1])];
        table.push(0, &row, i == 0).unwrap();
    };
    with_table(1_000_000, &columns, push, |view| {
        let mut group = c.benchmark_group("gather");
        for batch in [256, 4096] {
            group.throughput(Throughput::Elements(batch as u64));
            let (index, slots) = index(view, BATCHES * batch);
            let (mut obs, mut next_obs) = (vec![0f32; 4 * batch], vec![0f32; 4 * batch]);
            let (mut action, mut reward, mut flag) = (vec![0i32; batch], vec![0f32; batch], vec![0u8; batch]);
            group.bench_function(BenchmarkId::new("cartpole", format!("B{batch}")), |b| {
                each(b, &index, batch, |index| {
                    view.gather(0, index, Layout::Hwc, ElementsMut::F32(&mut obs)).unwrap();
                    view.gather(1, index, Layout::Hwc, ElementsMut::F32(&mut next_obs)).unwrap();
                    view.gather(2, index, Layout::Hwc, ElementsMut::I32(&mut action)).unwrap();
                    view.gather(3, index, Layout::Hwc, ElementsMut::F32(&mut reward)).unwrap();
                    view.gather(4, index, Layout::Hwc, ElementsMut::U8(&mut flag)).unwrap();
                })
            });
            let shape = format!("B{batch}");
            group.bench_function(BenchmarkId::new("cartpole/copy", format!("B{batch}")), |b| {
                each(b, &slots, batch, |slots| {
                    copy::<16>(view.columns[0], slots, bytemuck::cast_slice_mut(&mut obs));
                    copy::<16>(view.columns[1], slots, bytemuck::cast_slice_mut(&mut next_obs));
                    copy::<4>(view.columns[2], slots, bytemuck::cast_slice_mut(&mut action));
                    copy::<4>(view.columns[3], slots, bytemuck::cast_slice_mut(&mut reward));
                    copy::<1>(view.columns[4], slots, &mut flag);
                })
            });
            limit::against("gather", ["cartpole", &shape], ["cartpole/copy", &shape], 2 * 41 * batch);
        }
    });
}

fn bench_bytes<const W: usize>(c: &mut Criterion) {
    let row = [7; W];
    let push = |i: usize, table: &mut Table<'_>| {
        table.push(0, &[Elements::U8(&row)], i == 0).unwrap();
    };
    with_table(1_000_000, &[Column::new("bytes", Element::U8, W as u32)], push, |view| {
        let mut group = c.benchmark_group("gather");
        for batch in [256, 4096] {
            group.throughput(Throughput::Bytes((batch * W) as u64));
            let (index, slots) = index(view, BATCHES * batch);
            let mut out = vec![0u8; batch * W];
            group.bench_function(BenchmarkId::new(format!("bytes{W}"), format!("B{batch}")), |b| {
                each(b, &index, batch, |index| view.gather(0, index, Layout::Hwc, ElementsMut::U8(&mut out)).unwrap())
            });
            group.bench_function(BenchmarkId::new(format!("bytes{W}/copy"), format!("B{batch}")), |b| {
                each(b, &slots, batch, |slots| copy::<W>(view.columns[0], slots, &mut out))
            });
            let (what, shape) = (format!("bytes{W}"), format!("B{batch}"));
            limit::against("gather", [&what, &shape], [&format!("{what}/copy"), &shape], 2 * W * batch);
        }
    });
}

fn bench_frames(c: &mut Criterion) {
    const LEN: usize = 84 * 84;
    let frame: Vec<u8> = (0..LEN + 256).map(|i| i as u8).collect();
    let push = |i: usize, table: &mut Table<'_>| {
        table.push(0, &[Elements::U8(&frame[i % 256..][..LEN])], i.is_multiple_of(500)).unwrap();
    };
    for (name, k) in [("frames", 1), ("stacks", 4)] {
        with_table(20_000, &[Column::frames("screen", LEN as u32, 1, k as u32)], push, |view| {
            let mut group = c.benchmark_group("gather");
            let (index, slots) = index(view, BATCHES * BATCH);
            let mut out = vec![0u8; BATCH * LEN * k];
            group.throughput(Throughput::Bytes(out.len() as u64));
            for (layout, of) in [("chw", Layout::Chw), ("hwc", Layout::Hwc)] {
                group.bench_function(BenchmarkId::new(format!("{name}-{layout}"), format!("B{BATCH}")), |b| {
                    each(b, &index, BATCH, |index| view.gather(0, index, of, ElementsMut::U8(&mut out)).unwrap())
                });
            }
            group.bench_function(BenchmarkId::new(format!("{name}/copy"), format!("B{BATCH}")), |b| {
                each(b, &slots, BATCH, |slots| {
                    for (to, slot) in out.chunks_exact_mut(LEN * k).zip(slots) {
                        let begin = (*slot as usize).saturating_sub(k - 1) * LEN;
                        to.copy_from_slice(&view.columns[0][begin..begin + LEN * k]);
                    }
                    black_box(&mut out);
                })
            });
            for layout in ["chw", "hwc"] {
                let shape = format!("B{BATCH}");
                let (what, copy) = (format!("{name}-{layout}"), format!("{name}/copy"));
                limit::against("gather", [&what, &shape], [&copy, &shape], 2 * BATCH * LEN * k);
            }
        });
    }
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(1000))
        .without_plots()
}

criterion_group! { name = benches; config = short(); targets =
bench_memory, bench_cartpole, bench_bytes<17>, bench_bytes<100>, bench_frames }
fn main() {
    limit::run(benches);
}
