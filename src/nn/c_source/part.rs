//! Functions of C that layers and heads call. A file has those that it uses, in the order of this list.

macro_rules! parts {
    ($($part:ident = $file:literal, [$($need:ident),*];)+) => {
        /// A function, or a group of them.
        #[allow(dead_code, reason = "a build may have no layer that calls one of them")]
        #[derive(Clone, Copy)]
        pub enum Part {
            $($part,)+
        }

        /// Its text, and those that it calls.
        pub const PARTS: &[(Part, &str, &[Part])] =
            &[$((Part::$part, include_str!(concat!("parts/", $file, ".c")), &[$(Part::$need),*]),)+];
    };
}

parts! {
    Fma = "fma", [];
    Finite = "finite", [];
    Clamp = "clamp", [];
    Exp = "exp", [Clamp];
    Tanh = "tanh", [Clamp];
    Sigmoid = "sigmoid", [Exp];
    Sqrt = "sqrt", [];
    Tree = "tree", [];
    Sum = "sum", [Tree];
    Normalize = "normalize", [Clamp];
    Bytes = "bytes", [];
    TurnBytes = "turn_bytes", [];
    TurnFloats = "turn_floats", [];
    OneHot = "one_hot", [];
    Symbols = "symbols", [];
    Wide = "wide", [Fma];
    Narrow = "narrow", [Fma, Tree];
    Windows = "windows", [];
    Pixel = "pixel", [];
    Conv = "conv", [Fma, Windows, Pixel];
    Depthwise = "depthwise", [Fma, Windows, Pixel];
    Deconv = "deconv", [Fma, Windows];
    Pool = "pool", [Windows];
    Norm = "norm", [Sum, Sqrt];
    Embed = "embed", [];
    Add = "add", [];
    Multiply = "multiply", [];
    Join = "join", [];
    Lstm = "lstm", [Wide, Sigmoid, Tanh];
    LstmNormalized = "lstm_normalized", [Wide, Sigmoid, Tanh, Norm];
    Gru = "gru", [Wide, Sigmoid, Tanh];
    MinGru = "mingru", [Wide, Sigmoid];
    Attention = "attention", [Wide, Sum, Exp];
    ApplyTanh = "apply_tanh", [Tanh];
    ApplyRelu = "apply_relu", [];
    ApplyElu = "apply_elu", [Exp];
    ApplySilu = "apply_silu", [Sigmoid];
    ApplyGelu = "apply_gelu", [Tanh];
    ApplyLeakyRelu = "apply_leaky_relu", [];
    Atoms = "atoms", [Exp];
    Allows = "allows", [];
    Best = "best", [];
    Stretch = "stretch", [Clamp, Finite];
}

/// A set of functions.
#[derive(Clone, Copy, Default)]
pub struct Used(u64);

const _: () = assert!(PARTS.len() <= u64::BITS as usize);

impl Used {
    /// Adds a function and those that it calls.
    pub fn add(&mut self, part: Part) {
        if !self.has(part) {
            self.0 |= 1 << part as u32;
            let needs = PARTS.get(part as usize).map_or(&[][..], |(_, _, needs)| needs);
            needs.iter().for_each(|need| self.add(*need));
        }
    }

    pub fn has(self, part: Part) -> bool {
        self.0 >> part as u32 & 1 != 0
    }
}
