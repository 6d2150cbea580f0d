//! Tables against a twin that keeps every row ever given, in every state that pushes can reach.

use bytemuck::Zeroable;
use proptest::prelude::*;
use rlcore::block::{Cutter, Plan, Span};
use rlcore::cpu;
use rlcore::data::table::{Column, FrameIndex, MAX_COLUMNS, Run, Spans, Table, TableConfig, View, spans};
use rlcore::error::{Error, Kind, Result};
use rlcore::kernels::stack::Layout;
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut};

use super::blocks::kind;

/// An owner that keeps a table and nothing else: its configuration, then the table.
struct Owner {
    config: TableConfig,
    words: Vec<u64>,
    table: Spans,
}

impl Owner {
    fn new(config: TableConfig) -> Result<Owner> {
        let mut plan = Plan::default();
        let _: Span<u8> = plan.span(5)?;
        let table = spans(&mut plan, &config)?;
        Ok(Owner { config, words: vec![0; plan.size()? / 8], table })
    }

    fn table(&mut self) -> Table<'_> {
        Table::cut(&mut Cutter::new(bytemuck::cast_slice_mut(&mut self.words)), &self.table, &self.config, 0).unwrap()
    }

    fn attach(&mut self) -> Result<Table<'_>> {
        Table::attach(&mut Cutter::new(bytemuck::cast_slice_mut(&mut self.words)), &self.config, &self.table)
    }

    fn view(&self) -> View<'_> {
        View::of(bytemuck::cast_slice(&self.words), &self.table, &self.config).unwrap()
    }

    /// Bytes of a field, for damage.
    fn field<T>(&mut self, span: Span<T>) -> &mut [u8] {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        &mut bytes[span.start()..span.start() + span.len() * size_of::<T>()]
    }
}

fn columns() -> [Column; 6] {
    [
        Column::new("obs", Element::F32, 3),
        Column::frames("screen", 6, 2, 3),
        Column::new("action", Element::I32, 1),
        Column::new("flag", Element::U8, 1),
        Column::frames("image", 4, 2, 1),
        Column::frames("small", 2, 1, 2),
    ]
}

/// Bytes of row `number` of ring `ring` in every column, different for every row.
fn bytes_of(config: &TableConfig, ring: usize, number: u64) -> Vec<Vec<u8>> {
    let mut rng = Rng::seeded(number ^ ((ring as u64) << 32));
    let row = |c: &Column| -> Vec<u8> {
        (0..c.len)
            .flat_map(|_| {
                let x = rng.next_u64();
                match c.element().unwrap() {
                    Element::F32 => ((x % 1000) as f32).to_ne_bytes().to_vec(),
                    Element::I32 => (x as i32).to_ne_bytes().to_vec(),
                    Element::U8 => vec![x as u8],
                }
            })
            .collect()
    };
    config.columns().iter().map(row).collect()
}

/// Calls `body` with the bytes as elements of the columns.
fn with_row<R>(config: &TableConfig, bytes: &[Vec<u8>], body: impl FnOnce(&[Elements<'_>]) -> R) -> R {
    // Vectors of words are aligned for every kind.
    let aligned: Vec<Vec<u64>> = bytes
        .iter()
        .map(|b| {
            let mut words = vec![0u64; b.len().div_ceil(8)];
            bytemuck::cast_slice_mut::<_, u8>(&mut words)[..b.len()].copy_from_slice(b);
            words
        })
        .collect();
    let row: Vec<Elements<'_>> = config
        .columns()
        .iter()
        .zip(&aligned)
        .map(|(c, words)| {
            Elements::of_bytes(c.element().unwrap(), &bytemuck::cast_slice(words)[..c.row_size()]).unwrap()
        })
        .collect();
    body(&row)
}

fn push(config: &TableConfig, table: &mut Table<'_>, i: usize, number: u64, first: bool) -> Result<u64> {
    let bytes = bytes_of(config, table.first + i, number);
    with_row(config, &bytes, |row| table.push(i, row, first))
}

/// A table with this many rows in each ring, of one episode.
fn filled(config: TableConfig, rows: u64) -> Owner {
    let mut owner = Owner::new(config).unwrap();
    for (number, ring) in (0..rows).flat_map(|number| (0..config.num_rings as usize).map(move |ring| (number, ring))) {
        push(&config, &mut owner.table(), ring, number, number == 0).unwrap();
    }
    owner
}

/// The first row of every row's episode, for each ring.
#[derive(Clone, Default)]
struct Twin {
    starts: Vec<Vec<u64>>,
}

impl Twin {
    fn push(&mut self, ring: usize, first: bool) -> u64 {
        let starts = &mut self.starts[ring];
        let number = starts.len() as u64;
        starts.push(if first { number } else { starts[number as usize - 1] });
        number
    }

    fn oldest(&self, ring: usize, number: u64, k: usize) -> u64 {
        self.starts[ring][number as usize].max((number + 1).saturating_sub(k as u64))
    }

    fn held(&self, config: &TableConfig, ring: usize) -> std::ops::Range<u64> {
        let end = self.starts[ring].len() as u64;
        end.saturating_sub(config.num_rows.into())..end
    }

    fn is_whole(&self, config: &TableConfig, ring: usize, number: u64, k: usize) -> bool {
        let held = self.held(config, ring);
        held.contains(&number) && self.oldest(ring, number, k) >= held.start
    }

    /// A row as read, built element by element from the definition of the layouts.
    fn read(&self, config: &TableConfig, column: usize, ring: usize, number: u64, layout: Layout) -> Vec<u8> {
        let c = config.columns()[column];
        if c.kind != Element::U8 as u32 {
            return bytes_of(config, ring, number)[column].clone();
        }
        let (k, channels) = (c.stack(), c.channels.max(1) as usize);
        let pixels = c.len as usize / channels;
        let start = self.starts[ring][number as usize];
        let mut out = vec![0; c.read_len()];
        for j in 0..k {
            let frame = (number + 1 + j as u64).saturating_sub(k as u64).max(start);
            let frame = &bytes_of(config, ring, frame)[column];
            for p in 0..pixels {
                for ch in 0..channels {
                    let at = match layout {
                        Layout::Hwc => (p * k + j) * channels + ch,
                        Layout::Chw => (j * channels + ch) * pixels + p,
                    };
                    out[at] = frame[p * channels + ch];
                }
            }
        }
        out
    }
}

/// The gathered bytes; the buffer ends with a canary.
fn gathered(view: &View, column: usize, gather: impl FnOnce(ElementsMut) -> Result, rows: usize) -> Result<Vec<u8>> {
    let c = view.config.columns()[column];
    let kind = c.element().unwrap();
    let size = rows * c.read_len() * kind.size();
    let mut words = vec![0xa5a5_a5a5_a5a5_a5a5u64; size.div_ceil(8)];
    let room: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    let result = gather(ElementsMut::of_bytes(kind, &mut room[..size]).unwrap());
    if result.is_err() {
        assert!(room[..size].iter().all(|&b| b == 0xa5), "something was written");
    }
    result.map(|()| room[..size].to_vec())
}

const LAYOUTS: [Layout; 2] = [Layout::Hwc, Layout::Chw];

/// Compares every held row, and the refusals around them.
fn compare_rows(config: &TableConfig, view: &View<'_>, twin: &Twin, ring: usize) {
    let held = twin.held(config, ring);
    assert_eq!(view.held(ring).unwrap(), held);
    let whole: Vec<u64> = held.clone().filter(|&n| twin.is_whole(config, ring, n, config.max_stack())).collect();
    assert_eq!(view.whole(ring).unwrap().collect::<Vec<_>>(), whole);
    for number in held.clone() {
        for (column, row) in bytes_of(config, ring, number).iter().enumerate() {
            assert_eq!(view.row(column, ring, number).unwrap().bytes(), row);
        }
        assert_eq!(view.is_first(ring, number).unwrap(), twin.starts[ring][number as usize] == number);
        assert_eq!(view.stack_start(ring, number).unwrap(), twin.oldest(ring, number, config.max_stack()));
        assert_eq!(view.is_whole(ring, number).unwrap(), whole.contains(&number));
    }
    for number in [held.end, held.end + 1, u64::MAX, held.start.wrapping_sub(1)] {
        assert_eq!(view.at(ring, number).unwrap_err().kind, Kind::Range);
    }
}

/// Compares gathered rows of a column.
fn compare_gathered(view: &View<'_>, twin: &Twin, column: usize, index: &[FrameIndex]) {
    for layout in LAYOUTS {
        let out = gathered(view, column, |out| view.gather(column, index, layout, out), index.len());
        let read = |i: &FrameIndex| twin.read(view.config, column, i.env as usize, i.number, layout);
        let want: Vec<u8> = index.iter().flat_map(read).collect();
        assert_eq!(out.unwrap(), want, "column {column}, {layout:?}");
        if view.config.columns()[column].kind == Element::U8 as u32 {
            let mut floats = vec![0.0; want.len()];
            view.gather(column, index, layout, ElementsMut::F32(&mut floats)).unwrap();
            let unit: Vec<f32> = want.iter().map(|&x| (f64::from(x) / 255.0) as f32).collect();
            assert_eq!(floats, unit);
        }
    }
}

/// Compares runs of up to seven rows of a column.
fn compare_runs(view: &View<'_>, twin: &Twin, column: usize, runs: &[Run]) {
    let c = view.config.columns()[column];
    for layout in LAYOUTS {
        let out = gathered(view, column, |out| view.gather_runs(column, runs, 7, layout, out), runs.len() * 7);
        let read = |run: &Run, i: u32| match i < run.len {
            true => twin.read(view.config, column, run.env as usize, run.number + u64::from(i), layout),
            false => vec![0; c.read_len() * c.element().unwrap().size()],
        };
        let want: Vec<u8> = runs.iter().flat_map(|run| (0..7).flat_map(move |i| read(run, i))).collect();
        assert_eq!(out.unwrap(), want, "column {column}, {layout:?}");
    }
}

fn compare(config: &TableConfig, view: &View<'_>, twin: &Twin, rng: &mut Rng) {
    let rings = config.num_rings as usize;
    (0..rings).for_each(|ring| compare_rows(config, view, twin, ring));
    for (column, c) in config.columns().iter().enumerate() {
        let whole = |ring: usize, n: u64| twin.is_whole(config, ring, n, c.stack());
        let drawable: Vec<FrameIndex> = (0..rings)
            .flat_map(|ring| twin.held(config, ring).map(move |n| (ring, n)))
            .filter(|&(ring, n)| whole(ring, n))
            .map(|(ring, n)| FrameIndex::new(ring as u32, n))
            .collect();
        for (rows, rings) in [0, 1, 5, 300].into_iter().flat_map(|rows| [(rows, 0..rings), (rows, 0..1)]) {
            let drawable: Vec<_> = drawable.iter().filter(|i| rings.contains(&(i.env as usize))).collect();
            if !drawable.is_empty() {
                let draw = |_| *drawable[(rng.next_u64() % drawable.len() as u64) as usize];
                compare_gathered(view, twin, column, &(0..rows).map(draw).collect::<Vec<_>>());
            }
        }
        // Runs that start at any drawable row and end at any later one.
        let run = |i: &FrameIndex| {
            let most = (twin.held(config, i.env as usize).end - i.number).min(7);
            Run::new(i.env, i.number, (rng.next_u64() % (most + 1)) as u32)
        };
        compare_runs(view, twin, column, &drawable.iter().map(run).collect::<Vec<_>>());
        // A row that is not held, or whose stack is incomplete, is refused before anything is written.
        for ring in 0..rings {
            let held = twin.held(config, ring);
            for number in held.start.saturating_sub(2)..held.end + 2 {
                let refused = (!whole(ring, number)).then_some(Kind::Range);
                let index = [vec![FrameIndex::new(ring as u32, number)], drawable.clone()].concat();
                let out = gathered(view, column, |out| view.gather(column, &index, Layout::Hwc, out), index.len());
                assert_eq!(kind(out), refused);
                let run = [Run::new(ring as u32, number, 1)];
                let out = gathered(view, column, |out| view.gather_runs(column, &run, 1, Layout::Hwc, out), 1);
                assert_eq!(kind(out), refused);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_table_is_its_twin(rings in 1u32..4, rows in 3u32..12, pushes in 0usize..60, seed: u64, level in 0usize..3) {
        cpu::set_limit(cpu::LEVELS[level]);
        let rng = &mut Rng::seeded(seed);
        let mut owner = Owner::new(TableConfig::new(rings, rows, &columns())).unwrap();
        let config = owner.config;
        let mut twin = Twin { starts: vec![Vec::new(); rings as usize] };
        for _ in 0..pushes {
            let ring = (rng.next_u64() % u64::from(rings)) as usize;
            let first = twin.starts[ring].is_empty() || rng.next_u64().is_multiple_of(5);
            let number = twin.push(ring, first);
            let next = ring * rows as usize + (number % u64::from(rows)) as usize;
            let mut table = owner.table();
            prop_assert_eq!(table.next_row(ring).unwrap(), next);
            prop_assert_eq!(push(&config, &mut table, ring, number, first).unwrap(), number);
            prop_assert_eq!(table.view().at(ring, number).unwrap(), next);
        }
        compare(&config, &owner.view(), &twin, rng);
        let before = owner.words.clone();
        prop_assert!(owner.attach().is_ok());
        prop_assert_eq!(before, owner.words);
        cpu::set_limit(*cpu::LEVELS.last().unwrap());
    }
}

#[test]
fn rows_of_every_width_are_copied_whole() {
    for width in (1..70).chain([127, 128, 129, 255, 256, 257, 1000]) {
        let config = TableConfig::new(2, 150, &[Column::new("bytes", Element::U8, width)]);
        let owner = filled(config, 400);
        let view = owner.view();
        for rings in [1, 2] {
            let index: Vec<_> = (0..300u64).map(|i| FrameIndex::new((i % rings) as u32, 250 + i * 7 % 150)).collect();
            let out = gathered(&view, 0, |out| view.gather(0, &index, Layout::Hwc, out), 300).unwrap();
            for (row, i) in out.chunks_exact(width as usize).zip(&index) {
                assert_eq!(row, bytes_of(&config, i.env as usize, i.number)[0], "{width}");
            }
        }
    }
}

#[test]
fn slots_are_found_for_any_number_of_rows() {
    // Large numbers: only the count is set, because so many pushes would take too long.
    for num_rows in [1u32, 2, 3, 7, 64, 100, 4093] {
        for pushed in [5000u64, (1 << 32) + 17, (1 << 52) + 1, i64::MAX as u64 - 1] {
            let config = TableConfig::new(2, num_rows, &[Column::new("x", Element::I32, 1)]);
            let mut owner = Owner::new(config).unwrap();
            let table = owner.table();
            table.pushed.fill(pushed);
            table.age.fill(1);
            let slots: &mut [i32] = bytemuck::cast_slice_mut(table.columns[0]);
            slots.iter_mut().zip(0..).for_each(|(x, i)| *x = i);
            let view = owner.view();
            let numbers = pushed - u64::from(num_rows.min(9))..pushed;
            for rings in [1, 2] {
                let index: Vec<_> = numbers.clone().map(|n| FrameIndex::new((n % rings) as u32, n)).collect();
                let mut out = vec![0; index.len()];
                view.gather(0, &index, Layout::Hwc, ElementsMut::I32(&mut out)).unwrap();
                for (out, i) in out.iter().zip(&index) {
                    assert_eq!(*out as u64, u64::from(i.env * num_rows) + i.number % u64::from(num_rows));
                }
            }
        }
    }
}

#[test]
fn an_index_that_no_row_has_is_named_and_nothing_is_written() {
    let config = TableConfig::new(2, 4, &columns());
    let owner = filled(config, 6);
    let view = owner.view();
    let good = FrameIndex::new(1, 4);
    let refused = |index: FrameIndex, column: usize| -> Error {
        // One wrong index or several: faults do not cancel each other.
        for at in [&[0][..], &[5], &[129], &[5, 129], &[0, 1, 2]] {
            let mut all = [good; 130];
            at.iter().for_each(|&at| all[at] = index);
            let out = gathered(&view, column, |out| view.gather(column, &all, Layout::Hwc, out), 130);
            let error = out.unwrap_err();
            assert_eq!(error.kind, Kind::Range);
        }
        gathered(&view, column, |out| view.gather(column, &[index], Layout::Hwc, out), 1).unwrap_err()
    };
    for column in 0..columns().len() {
        assert!(refused(FrameIndex::new(1, 1), column).what.contains("still held, from number"));
        assert!(refused(FrameIndex::new(1, 6), column).what.contains("was pushed"));
        assert!(refused(FrameIndex::new(1, u64::MAX), column).what.contains("was pushed"));
        assert!(refused(FrameIndex::new(1, 1 << 63), column).what.contains("was pushed"));
        assert!(refused(FrameIndex::new(2, 4), column).what.ends_with(" below"));
        assert!(refused(FrameIndex { reserved: 1, ..good }, column).what.contains("reserved"));
        assert!(refused(FrameIndex { reserved: 1, ..FrameIndex::new(1, 1) }, column).what.contains("reserved"));
        let both = [0, 1].map(|env| FrameIndex { reserved: 1, ..FrameIndex::new(env, 4) });
        let out = gathered(&view, column, |out| view.gather(column, &both, Layout::Hwc, out), 2);
        assert_eq!(out.unwrap_err().kind, Kind::Range);
        let run = [Run::new(1, 4, 3)];
        let none = ElementsMut::U8(&mut []);
        assert_eq!(kind(view.gather_runs(column, &run, 2, Layout::Hwc, none)), Some(Kind::Shape));
        assert_eq!(view.check_run(&run[0], 2, false).unwrap_err().kind, Kind::Range);
        assert_eq!(view.check_run(&run[0], 3, false).unwrap_err().kind, Kind::Range);
        assert_eq!(view.check_run(&Run::new(1, 99, 0), 0, true), Ok(()));
        assert_eq!(view.check_run(&Run::new(1, u64::MAX, 2), 2, true).unwrap_err().kind, Kind::Range);
    }
    let mut room = [0.5; 9];
    for (column, index, out) in [(0, 3, 8), (0, 2, 9), (1, 1, 9)] {
        let index = vec![good; index];
        let out = ElementsMut::F32(&mut room[..out]);
        assert_eq!(view.gather(column, &index, Layout::Hwc, out).unwrap_err().kind, Kind::Shape);
    }
    assert_eq!(view.gather(2, &[good], Layout::Hwc, ElementsMut::F32(&mut room[..1])).unwrap_err().kind, Kind::Shape);
    assert_eq!(view.gather(0, &[good], Layout::Hwc, ElementsMut::U8(&mut [0; 3])).unwrap_err().kind, Kind::Shape);
    assert_eq!(view.gather(6, &[good], Layout::Hwc, ElementsMut::U8(&mut [0; 3])).unwrap_err().kind, Kind::Range);
    assert_eq!(room, [0.5; 9]);
    assert_eq!(view.held(2).unwrap_err().kind, Kind::Range);
}

/// Even and odd numbers on both sides of the held rows, in rings of an odd number of rows.
#[test]
fn rows_before_and_behind_those_held_are_refused_whatever_their_parity() {
    let config = TableConfig::new(2, 3, &[Column::new("x", Element::I32, 1)]);
    let mut owner = Owner::new(config).unwrap();
    assert_eq!([owner.view().whole(0), owner.view().whole(1)], [Ok(0..0), Ok(0..0)]);
    for number in 0..5 {
        push(&config, &mut owner.table(), 1, number, number == 0).unwrap();
    }
    let view = owner.view();
    for number in 0..9 {
        let index = [FrameIndex::new(1, number)];
        let out = gathered(&view, 0, |out| view.gather(0, &index, Layout::Hwc, out), 1);
        assert_eq!(out.is_ok(), (2..5).contains(&number), "{number}");
    }
}

/// The view of another process amid a push: the oldest rows are not trusted, although they were copied.
#[test]
fn readers_beside_a_writer_lose_what_it_may_have_touched() {
    let config = TableConfig::new(3, 4, &columns());
    let mut owner = filled(config, 6);
    let read = |owner: &Owner, column: usize, ring: u32| {
        let (view, c) = (owner.view(), config.columns()[column]);
        let ask = |rows: usize, gather: &dyn Fn(ElementsMut<'_>) -> Result| {
            let (mut room, kind) = ([0u32; 9], c.element().unwrap());
            let room = &mut bytemuck::cast_slice_mut(&mut room)[..rows * c.read_len() * kind.size()];
            gather(ElementsMut::of_bytes(kind, room).unwrap())
        };
        let index = |number| [FrameIndex::new(ring, number)];
        let gather = |number| ask(1, &|out| view.gather(column, &index(number), Layout::Hwc, out));
        let runs = |number, len| [Run::new(ring, number, len)];
        let run = |number, len| ask(2, &|out| view.gather_runs(column, &runs(number, len), 2, Layout::Hwc, out));
        // Rows 2 to 5 are held: stacks of three begin with row 4.
        let first = 1 + config.columns()[column].stack() as u64;
        let results = [gather(first), gather(first + 1), run(first, 2), run(first + 1, 1), run(0, 0)];
        results.map(|result| result.err().map(|e| e.kind))
    };
    let gone = Some(Kind::Range);
    for column in 0..columns().len() {
        assert_eq!([0, 1, 2].map(|ring| read(&owner, column, ring)), [[None; 5]; 3]);
        owner.table().begin(1, 2, 1);
        assert!(owner.attach().is_err());
        let late = [gone, None, gone, None, None];
        assert_eq!([0, 1, 2].map(|ring| read(&owner, column, ring)), [[None; 5], late, late], "column {column}");
        owner.table().end(1, 2);
        assert!(owner.attach().is_ok());
    }
    // A run of incomplete stacks is found before a complete one is written.
    let view = owner.view();
    let runs = [Run::new(0, 4, 1), Run::new(0, 3, 1)];
    let out = gathered(&view, 1, |out| view.gather_runs(1, &runs, 1, Layout::Hwc, out), 2);
    assert_eq!(out.unwrap_err().kind, Kind::Range);
    assert_eq!((view.check_run(&runs[0], 1, true), view.check_run(&runs[1], 1, false)), (Ok(()), Ok(())));
    assert_eq!(view.check_run(&runs[1], 1, true).unwrap_err().kind, Kind::Range);
}

#[test]
fn a_row_that_does_not_fit_its_description_is_refused_and_nothing_is_lost() {
    let config = TableConfig::new(1, 4, &[Column::new("a", Element::F32, 2), Column::new("b", Element::U8, 1)]);
    let mut owner = Owner::new(config).unwrap();
    let (a, b) = (Elements::F32(&[1.0, 2.0]), Elements::U8(&[3]));
    for pushed in 0..2 {
        let before = owner.words.clone();
        let mut table = owner.table();
        let (ints, short, long) = (Elements::I32(&[3]), Elements::F32(&[1.0]), Elements::U8(&[3, 4]));
        for row in [&[a][..], &[a, b, b], &[], &[a, ints], &[b, a], &[short, b], &[a, long]] {
            assert_eq!(table.push(0, row, true).unwrap_err().kind, Kind::Shape);
        }
        assert_eq!(table.push(1, &[a, b], true).unwrap_err().kind, Kind::Range);
        if pushed == 0 {
            assert_eq!(table.push(0, &[a, b], false).unwrap_err().kind, Kind::NotReady);
        }
        assert_eq!(before, owner.words);
        assert_eq!(owner.table().push(0, &[a, b], pushed == 0), Ok(pushed));
    }
    let table = owner.table();
    table.pushed[0] = i64::MAX as u64 - 1;
    assert_eq!(table.check(0, &[a, b], true, 1), Ok(()));
    assert_eq!(table.check(0, &[a, b], true, 2).unwrap_err().kind, Kind::Range);
}

#[test]
fn rings_may_be_filled_by_different_threads() {
    let config = TableConfig::new(7, 5, &columns());
    let mut whole = Owner::new(config).unwrap();
    let mut split = Owner::new(config).unwrap();
    for number in 0..9 {
        for ring in 0..7 {
            push(&config, &mut whole.table(), ring, number, number % 4 == 0).unwrap();
        }
        let (first, rest) = split.table().split_at(3).unwrap();
        assert_eq!((first.len(), rest.len(), rest.first, rest.is_empty()), (3, 4, 3, false));
        let (second, third) = rest.split_at(1).unwrap();
        std::thread::scope(|s| {
            for mut part in [first, second, third] {
                s.spawn(move || {
                    for i in 0..part.len() {
                        push(&config, &mut part.reborrow(), i, number, number % 4 == 0).unwrap();
                    }
                });
            }
        });
    }
    assert_eq!(whole.words, split.words);
    assert!(split.table().split_at(8).is_none());
    let (none, all) = split.table().split_at(0).unwrap();
    assert_eq!((none.is_empty(), all.is_empty()), (true, false));
}

#[test]
fn a_description_is_checked_field_by_field() {
    let good = columns();
    let refused = |edit: &dyn Fn(&mut TableConfig)| {
        let mut config = TableConfig::new(2, 8, &good);
        edit(&mut config);
        let error = config.check().unwrap_err();
        assert_eq!(error.kind, Kind::Config, "{error}");
        assert_eq!(spans(&mut Plan::default(), &config).unwrap_err(), error);
        error
    };
    assert_eq!(TableConfig::new(2, 8, &good).check(), Ok(()));
    refused(&|c| c.num_rings = 0);
    refused(&|c| c.num_rows = 0);
    refused(&|c| c.num_rows = 2);
    refused(&|c| c.num_columns = 0);
    refused(&|c| c.num_columns = 5);
    refused(&|c| c.num_columns = 7);
    refused(&|c| c.num_columns = 17);
    refused(&|c| c.reserved = 1);
    refused(&|c| c.columns[15] = good[0]);
    refused(&|c| c.columns[1].name = c.columns[0].name);
    refused(&|c| c.columns[1].name = [0; 24]);
    refused(&|c| c.columns[1].name = [b'a'; 24]);
    refused(&|c| c.columns[1].name[23] = 1);
    refused(&|c| c.columns[1].name[0] = 0xc3);
    refused(&|c| c.columns[1].kind = 3);
    refused(&|c| c.columns[1].len = 0);
    refused(&|c| c.columns[1].len = 7);
    refused(&|c| c.columns[1].num_stack = 17);
    refused(&|c| c.columns[1].channels = 4);
    refused(&|c| c.columns[0].num_stack = 2);
    refused(&|c| c.columns[0].channels = 3);
    // Limits, met exactly and exceeded by one.
    let widest = u32::try_from(isize::MAX as usize / 4).unwrap_or(u32::MAX);
    let one = |num_stack, len| TableConfig::new(1, 17, &[Column { num_stack, ..Column::new("x", Element::U8, len) }]);
    assert_eq!((one(16, 3).check(), one(0, widest).check()), (Ok(()), Ok(())));
    assert_eq!(one(17, 3).check().unwrap_err().kind, Kind::Config);
    if let Some(wider) = widest.checked_add(1) {
        assert_eq!(one(0, wider).check().unwrap_err().kind, Kind::Config);
    }
    let all: [Column; MAX_COLUMNS] = std::array::from_fn(|i| Column::new(&i.to_string(), Element::U8, 1));
    assert_eq!(TableConfig::new(1, 1, &all).check(), Ok(()));
    let mut plain = TableConfig::new(1, 1, &good[..1]);
    (plain.columns[0].num_stack, plain.columns[0].channels) = (1, 1);
    assert_eq!(plain.check(), Ok(()));
    let many = [Column::zeroed(); MAX_COLUMNS + 1];
    assert_eq!(TableConfig::new(1, 1, &many).check().unwrap_err().kind, Kind::Config);
    let config = TableConfig::new(1, 8, &good);
    assert_eq!((config.find("action"), config.find("Action"), config.max_stack()), (Some(2), None, 3));
    assert_eq!(config.column(6).unwrap_err().kind, Kind::Range);
    assert_eq!(config.row_size(), Ok(1 + 12 + 6 + 4 + 1 + 4 + 2));
    let huge = TableConfig::new(u32::MAX, u32::MAX, &[Column::new("x", Element::F32, 1 << 20)]);
    assert_eq!(Owner::new(huge).err().map(|e| e.kind), Some(Kind::Overflow));
}

#[test]
fn what_no_pushes_lead_to_is_no_image() {
    let config = TableConfig::new(2, 4, &columns());
    let mut owner = Owner::new(config).unwrap();
    for number in 0..6 {
        push(&config, &mut owner.table(), 1, number, number == 0).unwrap();
    }
    push(&config, &mut owner.table(), 0, 0, true).unwrap();
    assert!(owner.attach().is_ok());
    let refused = |edit: &dyn Fn(&mut Owner)| {
        let mut owner = Owner { words: owner.words.clone(), ..owner };
        edit(&mut owner);
        let before = owner.words.clone();
        assert_eq!(owner.attach().err().map(|e| e.kind), Some(Kind::Image));
        assert_eq!(before, owner.words);
    };
    let spans = owner.table;
    // The last valid number, and a larger one in the same slot; row 6 of ring 1 makes the ages right.
    let mut last = Owner { words: owner.words.clone(), ..owner };
    push(&config, &mut last.table(), 1, 6, false).unwrap();
    last.field(spans.pushed)[8..16].copy_from_slice(&(i64::MAX as u64).to_ne_bytes());
    assert!(last.attach().is_ok());
    last.field(spans.pushed)[8..16].copy_from_slice(&(i64::MAX as u64 + 4).to_ne_bytes());
    assert_eq!(last.attach().err().map(|e| e.kind), Some(Kind::Image));
    refused(&|o| o.field(spans.pushed)[8..16].copy_from_slice(&u64::MAX.to_ne_bytes()));
    refused(&|o| o.field(spans.pushed)[8..16].copy_from_slice(&3u64.to_ne_bytes()));
    refused(&|o| o.field(spans.writing)[4..8].copy_from_slice(&1u32.to_ne_bytes()));
    refused(&|o| o.field(spans.age)[0] = 1);
    refused(&|o| o.field(spans.age)[1] = 1);
    refused(&|o| o.field(spans.age)[4] = 2);
    refused(&|o| o.field(spans.age)[5] = 4);
}
