// Two kernels and a function. `core` is built for no GPU here, so what these need of it is declared.
#![feature(no_core, lang_items, auto_traits, abi_gpu_kernel)]
#![no_core]
#![crate_type = "lib"]
#![allow(internal_features)]

#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "freeze"]
unsafe auto trait Freeze {}
#[lang = "copy"]
pub trait Copy {}
impl Copy for f32 {}
impl Copy for u64 {}
impl<T> Copy for *mut T {}
#[lang = "mul"]
pub trait Mul<Rhs = Self> {
    type Output;
    fn mul(self, rhs: Rhs) -> Self::Output;
}
impl Mul for f32 {
    type Output = f32;
    fn mul(self, rhs: f32) -> f32 {
        self * rhs
    }
}
#[lang = "add"]
pub trait Add<Rhs = Self> {
    type Output;
    fn add(self, rhs: Rhs) -> Self::Output;
}
impl Add for f32 {
    type Output = f32;
    fn add(self, rhs: f32) -> f32 {
        self + rhs
    }
}

#[inline(never)]
fn times(a: f32, b: f32) -> f32 {
    a * b
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn raw_scale(data: *mut f32, factor: f32) {
    unsafe { *data = times(*data, factor) }
}

#[unsafe(export_name = "raw.add")]
pub unsafe extern "gpu-kernel" fn add(data: *mut f32, other: f32, _len: u64) {
    unsafe { *data = *data + other }
}
