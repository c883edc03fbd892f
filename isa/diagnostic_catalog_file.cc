// Diagnostics of reading program files and the text form.
#include "isa/diagnostic_catalog.h"

namespace trnemu::catalog {
namespace {

using enum Category;

constexpr CatalogEntry kEntries[] = {
    {"neff", kUnsupported,
     "The file is a NEFF, the vendor's executable. It holds undocumented "
     "binaries for the engines, which no emulator outside the vendor can "
     "execute.",
     "trnemu run model.neff",
     "Build the model with trnemu.torch.compile_program, or the kernel with "
     "trnemu.ProgramBuilder, to get a program that trnemu can execute."},
    {"profile.table", kMalformed,
     "What was given to compare-profile as a table of instructions lacks a "
     "column that it needs, or a number is none.",
     "a CSV file without the column opcode",
     "Export the table Instruction of the vendor's profiler as CSV."},
    {"malformed.magic", kMalformed,
     "The file does not start with \"TRNEMU\\r\\n\": it is no program file, "
     "or was changed by a transfer as text.",
     "trnemu run README.md",
     "Give the path of a program file; copy program files as binary; make "
     "one of the text form with trnemu asm."},
    {"malformed.version", kMalformed,
     "The container version of the file is not one that this trnemu reads, "
     "because a newer one wrote it.",
     "a program file of container version 2",
     "Update trnemu, or write the program again with this version."},
    {"malformed.truncated", kMalformed,
     "The file ends before the part that its header announces.",
     "a program file cut by a full disk", "Copy or build the file again."},
    {"malformed.trailing", kMalformed,
     "There are bytes after the end of the program.",
     "two program files in one", "Copy or build the file again."},
    {"malformed.padding", kMalformed,
     "The bytes before the data section are not zero.", "a file edited by hand",
     "Build the file again."},
    {"malformed.protobuf", kMalformed,
     "A message of the file is not valid protobuf of its type.",
     "a file with flipped bytes", "Copy or build the file again."},
    {"malformed.unknown_field", kMalformed,
     "A message holds a field that this trnemu does not know. Ignoring it "
     "could change what the program means.",
     "a file of a newer trnemu, or of a changed program.proto",
     "Update trnemu, or build the file with this version."},
    {"malformed.unused_field", kMalformed,
     "A message holds a field that does not apply to what it describes.",
     "an SBUF tile with an offset into the data section",
     "Leave the field out."},
    {"malformed.unset", kMalformed, "A required field is missing.",
     "an access without a tensor", "Set the field that the path names."},
    {"malformed.enum", kMalformed, "A number is not one of its enumeration.",
     "dtype 99", "Use a value of program.proto."},
    {"malformed.index", kMalformed,
     "An index points behind the end of its table.",
     "semaphore 7 of a program with 2", "Use an index that exists."},
    {"malformed.count", kMalformed,
     "A count is not positive, or larger than its limit.",
     "a dimension of an access with count 0", "Use a positive count."},
    {"malformed.step", kMalformed, "A step is outside its range.",
     "a step of 2^40 elements", "Use a step that stays inside the tensor."},
    {"malformed.rank", kMalformed,
     "An access has no dimensions, or more than five.",
     "an access of six dimensions", "Use one to five dimensions."},
    {"malformed.partitions", kMalformed,
     "A partition number or count is outside 0 to 128.",
     "an access of 200 partitions", "Use at most 128 partitions."},
    {"malformed.address", kMalformed,
     "An address is not representable, or belongs to a tensor that has none.",
     "a byte address on an HBM tensor",
     "Leave the address out, or make it a byte of the partition."},
    {"malformed.too_large", kMalformed, "A size overflows 64 bits.",
     "a tensor of 2^70 bytes", "Use a size that fits."},
    {"malformed.too_many", kMalformed,
     "A table has more entries than the format can refer to.",
     "more than 65535 operations", "Split the program."},
    {"malformed.data", kMalformed, "A constant lies outside the data section.",
     "a constant at offset 4096 of 1000 bytes",
     "Write the data section with the constants."},
    {"malformed.encoding", kMalformed,
     "A value is stored in a form that it does not have.", "a bool of 7",
     "Use the form that program.proto documents."},
    {"malformed.order", kMalformed,
     "Instructions are not in the order that their stream or operation "
     "needs.",
     "an expansion whose second step comes first",
     "Keep the instructions of an operation together and in order."},
    {"malformed.text", kMalformed,
     "The text form has something that does not belong there; the message "
     "has the line, what was expected and what was found.",
     "vector #1 tensor_copy TensorCopi",
     "Correct the line; trnemu disasm shows the form."},
    {"malformed.operation", kMalformed,
     "An instruction names an operation that this trnemu does not have.",
     "operation \"tensor_tensr\"",
     "Use a name of trnemu info --only operations."},
    {"malformed.dims", kMalformed,
     "An access has no dimension, or more than five.",
     "an access whose count list is empty",
     "Give one to five [step, count] pairs."},
    {"malformed.register", kMalformed, "The number of a register is too large.",
     "register 70000",
     "Use registers below 65536; a sequencer has 64 of them."},
    {"malformed.immediate", kMalformed,
     "A number in place of a register is no whole number of 32 bits.",
     "RegisterMove dst=r0 src=0.5", "Use a whole number."},
    {"malformed.operand", kMalformed,
     "An operand is of a kind that its opcode does not take.",
     "a register where a tile or a number goes",
     "Use what the opcode's row says."},
    {"malformed.branch", kMalformed,
     "A branch goes to an instruction that its stream does not have.",
     "Branch target=100 in a stream of 20",
     "Go to an instruction of the stream, or to its end."},
    {"malformed.expansion", kMalformed,
     "The instructions of an operation are not those that it becomes.",
     "an fp32 matmul whose second pass is missing",
     "Build the program again with ProgramBuilder."},
    {"program.target", kIllegal,
     "The program was built for another generation, on which an operation "
     "becomes other instructions.",
     "an fp32 nc_transpose built for trn2 that is run with --target trn1",
     "Build the program again, for the target it shall run on."},
};

}  // namespace

std::span<const CatalogEntry> FileEntries() { return kEntries; }

}  // namespace trnemu::catalog
