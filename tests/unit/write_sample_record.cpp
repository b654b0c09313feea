/// \file
/// Writes a record, for the test that holds it against the schema.
#include "sample_record.hpp"

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, [](int count, char** arguments) {
        mf::RecordFile(count > 1 ? arguments[1] : "-").write(sample_record());
        return mf::exit_ok;
    });
}
