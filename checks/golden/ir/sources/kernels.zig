// Two kernels, one of them under two names.
const builtin = @import("builtin");
const nvidia = builtin.cpu.arch == .nvptx64;
const conv: @import("std").builtin.CallingConvention = if (nvidia) .nvptx_kernel else .amdgcn_kernel;

inline fn place() u32 {
    return @workItemId(0) + @workGroupId(0) * 256;
}

fn scale(data: [*]addrspace(.global) f32, len: u64, factor: f32) callconv(conv) void {
    const i = place();
    if (i < len) data[i] = data[i] * factor;
}

fn add(data: [*]addrspace(.global) f32, len: u64, other: f32) callconv(conv) void {
    const i = place();
    if (i < len) data[i] = data[i] + other;
}

comptime {
    @export(&scale, .{ .name = "raw_scale" });
    @export(&add, .{ .name = "raw_add" });
    @export(&add, .{ .name = "raw_add_again" });
}
