#!/bin/sh
# Collects the evidence of chapter 13: timelines by Nsight Systems, counters by Nsight Compute.
#
#     sh profile.sh PROGRAM FOLDER
#
# PROGRAM is the chapter's program, built for a GPU; FOLDER takes the reports and is made if needed.
# For each variant: VARIANT.nsys-rep or VARIANT.ncu-rep to open in the tool, its tables as
# VARIANT.txt, what was printed as VARIANT.log; and evidence.txt, the counters side by side.
#
# Exit status: 0 all collected; 1 the program or a tool failed; 2 bad usage; 3 a tool or a
# permission is missing, and what does not need it was collected.

# The launch to look at: the first timed one, on a matrix of this side. The program prints how many
# launches of the same kernel, its checks, come before.
side=4096
blocks=16384
skip=9

# Loads from shared memory: how many a warp issued, how many steps they took, how many too many.
shared_loads=smsp__inst_executed_op_shared_ld.sum
shared_loads=$shared_loads,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
shared_loads=$shared_loads,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum

say() { echo "profile.sh: $*" >&2; }

status=0
worse() { [ "$status" -eq 1 ] || status=$1; }

# timeline VARIANT: two tasks after the checks, in ranges of the variant's name.
timeline() {
    rm -f "$folder/$1.nsys-rep"
    if ! nsys profile --trace=cuda,nvtx --sample=none --cpuctxsw=none --force-overwrite=true \
        --output="$folder/$1" "$program" --variant "$1" --repeats 2 --inner 1 \
        > "$folder/$1.log" 2>&1 || [ ! -s "$folder/$1.nsys-rep" ]; then
        say "Nsight Systems made no timeline of $1: see $folder/$1.log"
        worse 1
        return
    fi
    if ! nsys stats --force-export=true "$folder/$1.nsys-rep" \
        > "$folder/$1.txt" 2>> "$folder/$1.log"; then
        say "nsys stats failed on $1: see $folder/$1.log"
        worse 1
    fi
}

# counters VARIANT: one launch of its kernel.
counters() {
    rm -f "$folder/$1.ncu-rep"
    ncu --force-overwrite --export "$folder/$1" --import-source yes \
        --kernel-name "transpose_$1" --launch-skip $skip --launch-count 1 \
        --section SpeedOfLight --section MemoryWorkloadAnalysis \
        --section MemoryWorkloadAnalysis_Tables --section WarpStateStats \
        --section LaunchStats --section Occupancy --section SourceCounters \
        --metrics "$shared_loads" \
        "$program" --variant "$1" --n $side > "$folder/$1.log" 2>&1
    tool_status=$?
    if grep -q ERR_NVGPUCTRPERM "$folder/$1.log"; then
        say "no permission to read the GPU's counters (ERR_NVGPUCTRPERM): run as root, or see" \
            "\"When counters are not permitted\" in the chapter"
        worse 3
        return 3
    fi
    if [ $tool_status -ne 0 ] || [ ! -s "$folder/$1.ncu-rep" ]; then
        say "Nsight Compute saw no launch $((skip + 1)) of transpose_$1: see $folder/$1.log"
        worse 1
        return 1
    fi
    if ! ncu --import "$folder/$1.ncu-rep" --page details > "$folder/$1.txt" ||
        ! ncu --import "$folder/$1.ncu-rep" --page raw > "$folder/$1.raw.txt"; then
        say "ncu --import failed on $1.ncu-rep"
        worse 1
        return 1
    fi
    seen=$(awk '$1 == "launch__grid_size" { gsub(/,/, "", $NF); print $NF }' "$folder/$1.raw.txt")
    if [ "$seen" != $blocks ]; then
        say "transpose_$1: the launch that was counted has ${seen:-unknown} blocks, not $blocks"
        worse 1
        return 1
    fi
}

# evidence VARIANT VARIANT: what decides between the hypotheses, a line a counter; where and when.
evidence() {
    {
        echo "transpose_$1 and transpose_$2, launch $((skip + 1)), n=$side, $(date -u +%Y-%m-%d)"
        echo "Nsight Compute $(ncu --version | grep '^Version')"
        grep -E '^(Device|Driver) ' "$folder/$1.log"
        echo
        side_by_side "$1" "$2"
    } > "$folder/evidence.txt"
    cat "$folder/evidence.txt"
}

side_by_side() {
    awk -v first="$1" -v second="$2" '
        BEGIN {
            count = split("launch__grid_size launch__block_size gpu__time_duration.sum" \
                " sm__throughput.avg.pct_of_peak_sustained_elapsed" \
                " gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed" \
                " gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed" \
                " dram__throughput.avg.pct_of_peak_sustained_elapsed" \
                " lts__throughput.avg.pct_of_peak_sustained_elapsed" \
                " l1tex__throughput.avg.pct_of_peak_sustained_active" \
                " l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed" \
                " smsp__inst_executed_op_shared_ld.sum" \
                " l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum" \
                " l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum" \
                " derived__memory_l1_wavefronts_shared_excessive" \
                " sm__warps_active.avg.pct_of_peak_sustained_active" \
                " smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio" \
                " smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio" \
                " smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio" \
                " smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", names, " ")
            format = "%-75s %-8s %15s %15s\n"
            printf format, "counter", "unit", first, second
        }
        NF >= 2 && FNR == NR { one[$1] = $NF; unit[$1] = NF > 2 ? $2 : "" }
        NF >= 2 && FNR != NR { two[$1] = $NF }
        END {
            for (i = 1; i <= count; ++i)
                if (names[i] in one)
                    printf format, names[i], unit[names[i]], one[names[i]], two[names[i]]
        }' "$folder/$1.raw.txt" "$folder/$2.raw.txt"
}

if [ $# -ne 2 ]; then
    say "usage: sh profile.sh PROGRAM FOLDER"
    exit 2
fi
folder=$2
case $1 in
    */*) program=$1 ;;
    *) program=./$1 ;;
esac
if [ ! -x "$program" ] || [ -d "$program" ]; then
    say "$1 is no program that can be run"
    exit 2
fi
if ! mkdir -p "$folder" 2> /dev/null || [ ! -w "$folder" ]; then
    say "$folder is no folder that can be written to"
    exit 2
fi

if command -v nsys > /dev/null; then
    timeline bounced
    timeline waited
    timeline queued
else
    say "nsys (Nsight Systems) is not on the PATH: no timelines"
    worse 3
fi

if command -v ncu > /dev/null; then
    counters conflicting && counters padded && evidence conflicting padded
else
    say "ncu (Nsight Compute) is not on the PATH: no counters"
    worse 3
fi
exit "$status"
