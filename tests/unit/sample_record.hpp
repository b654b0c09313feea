/// \file
/// A record with every part filled, as a program would write it.
#pragma once

#include "record.hpp"

inline mf::Record sample_record() {
    static char name[] = "./sample";
    static char option[] = "--seed=42";
    static char* arguments[] = {name, option};

    mf::DeviceInfo device;
    device.name = "Test device";
    device.compute_major = 9;
    device.multiprocessors = 132;
    device.memory_bytes = std::size_t{1} << 37;
    device.l2_bytes = 60u << 20;
    device.clock_khz = 1980000;
    device.driver_release = "580.159";
    device.driver_model = "Linux";
    device.driver_version = "13.0";
    device.runtime_version = "12.4";

    mf::CommonOptions options;
    options.seed = 42;

    mf::Series direct;
    direct.name = "direct";
    direct.boundary = "between two events: the kernel alone";
    direct.timer = "CUDA events";
    direct.first_ms = 3;
    direct.warm_up_launches = 10;
    direct.warm_up_ms = 200.5;
    direct.launches_per_sample = 4;
    direct.ms = {0.25, 0.5, 0.75};
    direct.clocks = mf::ClockPair{1980, 1965};
    mf::Series tiled = direct;
    tiled.name = "tiled";
    tiled.clocks.reset();

    const mf::Ceilings ceilings{4814.0, 4240.0, device.l2_bytes, mf::LaunchOverhead{0.005, 0.002}};

    mf::Record record("sample", 2, arguments, device, options);
    record.set_input("mixed pixels", mf::Json{{"width", 1003}, {"height", 769}});
    record.set_hypothesis("a tile in shared memory", "fewer sectors a request");
    record.add_check({"direct", true, ""}, "before timing");
    record.add_check({"direct", true, ""}, "after timing");
    record.add_series("kernel ms", direct, mf::rate_of(direct, 1542614, ceilings));
    record.add_series("kernel ms", tiled);
    record.add_comparison("kernel ms",
                          mf::compare(direct, tiled, options.plan.order, options.seed));
    record.set_ceilings(ceilings);
    record.add_extra("average_clocks_a_block", 1712.5);
    return record;
}
