"""launches.cu, rewritten, compiled and run: every way to write a launch gives the right call."""

import tempfile
import unittest
from pathlib import Path

from support import HERE, compile_stub, rewrite, run

# case | how it is launched | the name it is given | result | dynamic shared memory | stream
EXPECTED = """\
plain|named|plain|1|0|0
spaces|named|plain|8|0|0
global|named|::plain|2|0|0
qualified|named|outer::inner::nested|12|0|0
global template|named|::outer::inner::typed<float>|0|0|0
inside its namespace|named|nested|12|0|0
static|named|internal|10|0|0
default that nothing deduces|named|outer::inner::with_size<int>|31|0|0
anonymous namespace|named|anonymous|11|0|0
declared and defined|named|declared|30|0|0
default argument|call|declared|20|0|0
overloaded int|call|overloaded|101|0|0
overloaded float|call|overloaded|201|0|0
overloaded by a host function|call|overloads_host|300|0|0
named as a host function elsewhere|call|outer::beside_host|301|0|0
deduced|call|defaults|6|0|0
partly explicit|call|defaults<int>|6|0|0
deduced in spite of a default|call|sized<int>|8|0|0
partly explicit with a value|call|defaults<int, 7>|14|0|0
default template arguments|call|defaults<int, 4>|8|0|0
expression in template arguments|named|defaults<int, (8>4)?6:7, long>|12|0|0
variadic|call|variadic|100|0|0
variadic explicit|call|variadic<int, int>|3|0|0
specialised|named|specialised<int>|2|0|0
launch bounds|named|bounded|13|0|0
launch bounds first|named|bounded_first|14|0|0
late qualifier|named|late_qualifier|15|0|0
extern C|named|c_linkage|16|0|0
null pointers|named|takes_pointers|3|0|0
braced lists|named|takes_structs|11|0|0
braced lists deduced|call|deduced_struct|8|0|0
braced variables deduced|call|deduced_struct|0|0|0
functor|call|apply|8|0|0
device lambda|call|apply|1|0|0
device lambda explicit|named|apply<decltype(twice)>|10|0|0
kernel made by a macro|pointer|made_by_macro|17|0|0
template made by a macro|call|template_made_by_macro|20|0|0
no arguments|named|no_arguments|18|0|0
void|named|void_argument|19|0|0
function argument|named|function_argument|8|0|0
pointer|pointer|pointer|10|0|0
dereferenced|pointer|(*pointer)|10|0|0
parenthesised|pointer|(pointer)|10|0|0
member|pointer|table.kernel|10|0|0
member of a pointer|pointer|(&table)->kernels[1]|13|0|0
chain|pointer|table.self()->self()->kernels[0]|10|0|0
static member|pointer|Table::constant|13|0|0
own member|pointer|kernel|10|0|0
this|pointer|this->kernels[1]|13|0|0
returned|pointer|choose(1)|13|0|0
array|pointer|several[0][choose(0)==internal]|13|0|0
conditional|pointer|(first==internal?bounded:internal)|13|0|0
if without braces|named|plain|1|0|0
else without braces|call|overloaded|102|0|0
pointer after if|pointer|(*pointer)|10|0|0
for|named|plain|2|0|0
comma|call|overloaded|103|0|0
after a question mark|named|plain|1|0|0
macro|pointer|plain|21|0|0
macro template|pointer|outer::inner::typed<int>|22|0|0
macro deduced|call|defaults|69|0|0
macro overloaded|call|overloaded|104|0|0
macro null pointers|pointer|takes_pointers|3|0|0
macro member|pointer|table.kernels[1]|13|0|0
macro configured|pointer|plain|24|0|0
macro several lines|named|plain|25|0|0
macro argument|named|plain|26|0|0
macro argument with commas|call|defaults<int, 2>|8|0|0
four parts|named|plain|1|12|9
shifts|named|plain|63|16|0
comparisons|named|plain|0|0|0
nested template arguments|named|plain|1|0|0
five closing brackets|named|plain|1|0|0
braced configuration|named|plain|2|0|0
lambda in the configuration|named|plain|1|0|0
several lines|named|plain|27|0|0
line of the last argument|named|plain|2|0|0
conditional configuration|named|plain|28|0|0
strings|named|plain|1|0|0
dependent explicit|named|outer::inner::typed<T>|4|0|0
dependent deduced|call|outer::inner::typed|4|0|0
dependent member|pointer|Traits<T>::kernel|2|0|0
dependent value|call|defaults<T, sizeof(T)/2>|8|0|0
generic lambda|call|defaults<decltype(v), 5>|20|0|0
shadowed by a parameter|pointer|plain|10|0|0
shadowed by a variable|pointer|nested|13|0|0
"""


class LaunchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            rewritten = rewrite(HERE / "launches.cu", "-o", folder)
            compiled = compile_stub(
                folder / "launches.cu.cpp", "-Werror", "-o", folder / "launches"
            )
            cls.problems = rewritten.stderr + compiled.stderr
            cls.output = run(folder / "launches").stdout if not cls.problems else ""

    def test_compiles_without_a_warning(self):
        self.assertEqual(self.problems, "")

    def test_every_form(self):
        got = dict(line.split("|", 1) for line in self.output.splitlines())
        expected = dict(line.split("|", 1) for line in EXPECTED.splitlines())
        self.assertEqual(list(got), list(expected))
        for case, right in expected.items():
            with self.subTest(case):
                self.assertEqual(got[case], right)


if __name__ == "__main__":
    unittest.main()
