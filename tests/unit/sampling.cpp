/// \file
/// How samples are taken, with a clock of the test's own.
#include "sampling.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"

namespace {

/// A subject whose launches take `ms` each after a fixed cost, and that notes what is done to it.
struct Fake {
    double ms_per_launch = 0.1;
    double fixed_ms = 0;
    double first_extra_ms = 0;
    std::vector<int> batches;
    int prepared = 0;
    std::string* log = nullptr;
    char letter = 'A';

    mf::Subject subject(const std::string& name = "fake") {
        mf::Subject s;
        s.name = name;
        s.boundary = "nothing real";
        s.prepare = [this] { ++prepared; };
        s.time = [this](int launches) {
            const double extra = batches.empty() ? first_extra_ms : 0;
            batches.push_back(launches);
            if (log != nullptr) *log += letter;
            return mf::TimedInterval{extra + fixed_ms + ms_per_launch * launches, 0};
        };
        return s;
    }
};

mf::MeasurePlan quick(int repeats) {
    mf::MeasurePlan plan;
    plan.repeats = repeats;
    plan.warm_up_ms = 0;
    return plan;
}

}  // namespace

TEST_CASE("the first launch is reported apart and is no sample") {
    Fake fake;
    fake.ms_per_launch = 2;
    fake.first_extra_ms = 40;
    const auto all = mf::take_samples(quick(4), {fake.subject()});
    CHECK(all[0].first_ms == Approx(42));
    CHECK(all[0].ms == std::vector<double>(4, 2.0));
    CHECK(fake.batches.front() == 1);
}

TEST_CASE("there is at least one warm-up launch, even with no time for it") {
    Fake fake;
    fake.ms_per_launch = 5;
    const auto all = mf::take_samples(quick(3), {fake.subject()});
    CHECK(all[0].warm_up_launches == 1);
    CHECK(fake.batches.size() == 1 + 1 + 3);
}

TEST_CASE("the warm-up lasts as long as the plan says") {
    Fake fake;
    fake.ms_per_launch = 5;
    mf::MeasurePlan plan = quick(2);
    plan.warm_up_ms = 30;
    const auto all = mf::take_samples(plan, {fake.subject()});
    CHECK(all[0].warm_up_ms >= 30);
    CHECK(all[0].warm_up_launches > 1);
}

TEST_CASE("short launches are batched until a sample is long enough") {
    for (const double ms : {0.002, 0.02, 0.3, 0.9}) {
        Fake fake;
        fake.ms_per_launch = ms;
        const auto all = mf::take_samples(quick(4), {fake.subject()});
        INFO(ms << " ms a launch, " << all[0].launches_per_sample << " launches a sample");
        CHECK(all[0].launches_per_sample * ms >= mf::least_sample_ms);
        CHECK(all[0].launches_per_sample * ms <= 3 * mf::least_sample_ms);
        CHECK(all[0].ms[0] == Approx(ms));
        CHECK(all[0].sample_ms() >= mf::least_sample_ms);
    }
}

TEST_CASE("a disturbed launch does not leave the batch short") {
    Fake fake;
    fake.ms_per_launch = 0.05;
    mf::Subject subject = fake.subject();
    const auto undisturbed = subject.time;
    subject.time = [&](int launches) {
        const bool disturbed = fake.batches.size() == 1;  // the one that first sizes the batch
        mf::TimedInterval interval = undisturbed(launches);
        if (disturbed) interval.total_ms += 2;
        return interval;
    };
    mf::MeasurePlan plan = quick(4);
    plan.warm_up_ms = 5;
    const auto all = mf::take_samples(plan, {subject});
    CHECK(all[0].sample_ms() >= mf::least_sample_ms);
}

TEST_CASE("batching drives out the fixed cost that one pair of events carries") {
    Fake fake;
    fake.ms_per_launch = 0.020;
    fake.fixed_ms = 0.005;
    const auto all = mf::take_samples(quick(4), {fake.subject()});
    CHECK(mf::median(all[0].ms) == Approx(0.020).epsilon(0.01));
}

TEST_CASE("launches that are long enough are not batched") {
    Fake fake;
    fake.ms_per_launch = 1.5;
    CHECK(mf::take_samples(quick(4), {fake.subject()})[0].launches_per_sample == 1);
}

TEST_CASE("--inner is taken as it is") {
    Fake fake;
    fake.ms_per_launch = 0.01;
    mf::MeasurePlan plan = quick(3);
    plan.inner = 7;
    const auto all = mf::take_samples(plan, {fake.subject()});
    CHECK(all[0].launches_per_sample == 7);
    CHECK(fake.batches == std::vector<int>{1, 7, 7, 7, 7});
}

TEST_CASE("a cold sample holds one launch, and every interval is prepared") {
    Fake fake;
    fake.ms_per_launch = 0.01;
    mf::MeasurePlan plan = quick(5);
    plan.cold = true;
    const auto all = mf::take_samples(plan, {fake.subject()});
    CHECK(all[0].cold);
    CHECK(all[0].launches_per_sample == 1);
    CHECK(fake.prepared == static_cast<int>(fake.batches.size()));
    CHECK(fake.batches == std::vector<int>(7, 1));
}

TEST_CASE("the growth of a batch is bounded") {
    CHECK(mf::next_batch(1, 0.1) == 10);
    CHECK(mf::next_batch(1, 0.0001) == 10);
    CHECK(mf::next_batch(1, 0) == 10);
    CHECK(mf::next_batch(10, 0.9) == 14);
    CHECK(mf::next_batch(mf::most_launches, 0.5) == mf::most_launches);
}

TEST_CASE("the order of samples is what the plan says") {
    const auto order_of = [](mf::Order order, int repeats) {
        std::string log;
        Fake a;
        Fake b;
        a.ms_per_launch = b.ms_per_launch = 2;
        a.log = b.log = &log;
        b.letter = 'B';
        mf::MeasurePlan plan = quick(repeats);
        plan.order = order;
        const auto all = mf::take_samples(plan, {a.subject("a"), b.subject("b")});
        CHECK(all[0].name == "a");
        CHECK(all[1].name == "b");
        CHECK(all[0].ms.size() == static_cast<std::size_t>(repeats));
        CHECK(all[1].ms.size() == static_cast<std::size_t>(repeats));
        return log;
    };
    // First launch and one warm-up of each, then the samples.
    CHECK(order_of(mf::Order::interleaved, 4) ==
          "AABB"
          "ABBAABBA");
    CHECK(order_of(mf::Order::interleaved, 3) ==
          "AABB"
          "ABBAAB");
    CHECK(order_of(mf::Order::ab, 3) ==
          "AA"
          "AAA"
          "BB"
          "BBB");
    CHECK(order_of(mf::Order::ba, 3) ==
          "BB"
          "BBB"
          "AA"
          "AAA");
}

TEST_CASE("the clock is read after the warm-up and after the samples") {
    std::string log;
    Fake fake;
    fake.ms_per_launch = 2;
    fake.log = &log;
    mf::take_samples(quick(2), {fake.subject()},
                     [&log](const std::vector<mf::Series*>& series, bool after) {
                         CHECK(series.size() == 1);
                         log += after ? '>' : '<';
                     });
    CHECK(log == "AA<AA>");
}

TEST_CASE("one senseless sample refuses the series") {
    for (const double bad : {0.0, -1.0, 1e-42, double(NAN), double(INFINITY)}) {
        int calls = 0;
        mf::Subject subject;
        subject.name = "broken";
        subject.time = [&calls, bad](int) {
            return mf::TimedInterval{++calls == 5 ? bad : 2.0, 0};
        };
        CHECK_THROWS_AS(mf::take_samples(quick(8), {subject}), mf::MeasurementRefused);
        CHECK(calls == 5);
    }
}

TEST_CASE("the least time is that of the subject's clock") {
    Fake fake;
    fake.ms_per_launch = 0.0005;
    mf::MeasurePlan plan = quick(3);
    plan.inner = 1;
    CHECK_THROWS_AS(mf::take_samples(plan, {fake.subject()}), mf::MeasurementRefused);
    mf::Subject subject = fake.subject();
    subject.least_ms = 0;
    CHECK(mf::take_samples(plan, {subject})[0].ms == std::vector<double>(3, 0.0005));
}

TEST_CASE("the interval is validated after the first launch and with the batch of the samples") {
    Fake fake;
    fake.ms_per_launch = 0.1;
    std::vector<int> validated;
    mf::Subject subject = fake.subject();
    subject.validate = [&](int launches) { validated.push_back(launches); };
    const auto all = mf::take_samples(quick(4), {subject});
    CHECK(validated == std::vector<int>{1, all[0].launches_per_sample});
}

TEST_CASE("a series says when the host was the bottleneck") {
    mf::Subject subject;
    subject.name = "tiny";
    subject.time = [](int launches) {
        return mf::TimedInterval{0.002 * launches, 0.0019 * launches};
    };
    const auto all = mf::take_samples(quick(4), {subject});
    CHECK(all[0].enqueue_share == Approx(0.95));
    CHECK(all[0].launch_bound());
}
