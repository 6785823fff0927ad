// What the race detector takes for a race, access by access. Threads 0..31 are one warp.

#include "harness/emulator/race_detector.hpp"

#include <gtest/gtest.h>

namespace espalier::device::host {
namespace {

using enum AccessKind;

class RaceDetectorTest : public testing::Test {
protected:
    RaceDetectorTest() { races_.begin_block(); }

    /// Whether this access, to so many bytes at an offset, completes a race.
    bool access(unsigned thread, AccessKind kind, std::size_t offset = 0, std::size_t bytes = 4) {
        race_ = races_.access({memory_ + offset, bytes, kind, thread, 1000U + thread});
        return race_.has_value();
    }

    alignas(8) std::byte memory_[64]{};
    RaceDetector races_{128};
    std::optional<Race> race_;
};

TEST_F(RaceDetectorTest, OneThreadRacesWithNobody) {
    EXPECT_FALSE(access(0, write));
    EXPECT_FALSE(access(0, read));
    EXPECT_FALSE(access(0, atomic_update));
    EXPECT_FALSE(access(0, write));
}

TEST_F(RaceDetectorTest, ReadsDoNotRace) {
    EXPECT_FALSE(access(0, read));
    EXPECT_FALSE(access(1, read));
    EXPECT_FALSE(access(64, read));
}

TEST_F(RaceDetectorTest, AWriteRacesWithTheOthersWrite) {
    EXPECT_FALSE(access(3, write));
    EXPECT_TRUE(access(40, write));
    EXPECT_TRUE(race_->wrote);
    EXPECT_EQ(race_->thread, 3U);
    EXPECT_EQ(race_->instruction, 1003U);
    EXPECT_FALSE(race_->in_another_block);
}

TEST_F(RaceDetectorTest, AReadRacesWithAWriteBeforeAndAfterIt) {
    EXPECT_FALSE(access(3, write));
    EXPECT_TRUE(access(4, read));
    EXPECT_FALSE(access(5, read, 8));
    EXPECT_TRUE(access(6, write, 8));
    EXPECT_FALSE(race_->wrote);
    EXPECT_EQ(race_->thread, 5U);
}

TEST_F(RaceDetectorTest, NeighbouringBytesAreApart) {
    EXPECT_FALSE(access(0, write, 0, 1));
    EXPECT_FALSE(access(1, write, 1, 1));
    EXPECT_FALSE(access(2, write, 2, 2));
    EXPECT_TRUE(access(3, read, 0, 4));
    EXPECT_FALSE(access(4, write, 15, 1));
    EXPECT_TRUE(access(5, read, 8, 8));
    EXPECT_EQ(race_->address, memory_ + 15);
}

TEST_F(RaceDetectorTest, ABarrierOrdersTheBlock) {
    EXPECT_FALSE(access(0, write));
    races_.barrier();
    EXPECT_FALSE(access(100, read));
    EXPECT_FALSE(access(30, read));
    races_.barrier();
    EXPECT_FALSE(access(50, write));
}

TEST_F(RaceDetectorTest, AWarpBarrierOrdersItsLanesOnly) {
    EXPECT_FALSE(access(0, write));
    races_.warp_barrier(0, 0xff);
    EXPECT_FALSE(access(7, read));
    EXPECT_TRUE(access(8, read));
    EXPECT_TRUE(access(32, read));
}

TEST_F(RaceDetectorTest, WarpBarriersOrderThroughOtherLanes) {
    EXPECT_FALSE(access(0, write));
    races_.warp_barrier(0, 0b0011);
    races_.warp_barrier(0, 0b0110);
    EXPECT_FALSE(access(2, read));
    EXPECT_FALSE(access(2, write));
    EXPECT_TRUE(access(1, read));
}

TEST_F(RaceDetectorTest, AWarpBarrierOrdersOnlyWhatCameBeforeIt) {
    races_.warp_barrier(0, 0xffffffff);
    EXPECT_FALSE(access(0, write));
    EXPECT_TRUE(access(1, read));
}

TEST_F(RaceDetectorTest, WhoeverIsOrderedAfterAReadIsSoAfterTheReadsBeforeIt) {
    EXPECT_FALSE(access(0, read));
    races_.warp_barrier(0, 0b0011);
    EXPECT_FALSE(access(1, read));
    EXPECT_FALSE(access(1, write));
    EXPECT_FALSE(access(0, read, 8));
    races_.warp_barrier(0, 0b0011);
    EXPECT_FALSE(access(1, read, 8));
    races_.warp_barrier(0, 0b0110);
    EXPECT_FALSE(access(2, write, 8));
    EXPECT_FALSE(access(0, read, 16));
    EXPECT_FALSE(access(1, read, 16));
    EXPECT_TRUE(access(1, write, 16));
    EXPECT_EQ(race_->thread, 0U);
}

TEST_F(RaceDetectorTest, AWriteRacesWithAnyOfTheReaders) {
    for (const unsigned reader : {0U, 1U, 2U}) EXPECT_FALSE(access(reader, read));
    races_.warp_barrier(0, 0b1101);
    EXPECT_TRUE(access(3, write));
    EXPECT_EQ(race_->thread, 1U);
    for (const unsigned reader : {0U, 40U}) EXPECT_FALSE(access(reader, read, 8));
    EXPECT_TRUE(access(40, write, 8));
    EXPECT_EQ(race_->thread, 0U);
    for (const unsigned reader : {0U, 40U}) EXPECT_FALSE(access(reader, read, 16));
    EXPECT_TRUE(access(0, write, 16));
    EXPECT_EQ(race_->thread, 40U);
}

TEST_F(RaceDetectorTest, AtomicsRaceWithPlainAccessesOnly) {
    EXPECT_FALSE(access(0, atomic_update));
    EXPECT_FALSE(access(1, atomic_update));
    EXPECT_FALSE(access(2, atomic_read));
    EXPECT_TRUE(access(3, read));
    EXPECT_FALSE(access(4, write, 8));
    EXPECT_TRUE(access(5, atomic_update, 8));
    EXPECT_FALSE(access(6, write, 16));
    EXPECT_TRUE(access(7, atomic_read, 16));
}

TEST_F(RaceDetectorTest, AReadRacesWithUpdatesBeforeItsOwn) {
    for (const unsigned thread : {40U, 41U, 3U}) EXPECT_FALSE(access(thread, atomic_update));
    EXPECT_TRUE(access(3, read));
    EXPECT_EQ(race_->thread, 41U);
    races_.barrier();
    EXPECT_FALSE(access(3, atomic_update));
    EXPECT_FALSE(access(3, read));
}

TEST_F(RaceDetectorTest, AFenceOrdersAWriteForWhoSawTheFlag) {
    EXPECT_FALSE(access(0, write));
    races_.fence(0);
    EXPECT_FALSE(access(0, atomic_update, 32));
    EXPECT_FALSE(access(64, atomic_read, 32));
    EXPECT_FALSE(access(64, read));
    EXPECT_TRUE(access(65, read));
}

TEST_F(RaceDetectorTest, AtomicsAloneOrderNothing) {
    EXPECT_FALSE(access(0, write));
    EXPECT_FALSE(access(0, atomic_update, 32));
    EXPECT_FALSE(access(64, atomic_update, 32));
    EXPECT_TRUE(access(64, read));
}

TEST_F(RaceDetectorTest, BlocksRaceUnlessOneReleasesAndTheOtherAcquires) {
    EXPECT_FALSE(access(0, write));
    races_.begin_block();
    EXPECT_TRUE(access(0, read));
    EXPECT_TRUE(race_->in_another_block);
    EXPECT_FALSE(access(0, atomic_update, 32));
    EXPECT_TRUE(access(0, read));  // the first block gave no sign

    EXPECT_FALSE(access(1, write, 8));
    races_.fence(0);
    races_.begin_block();
    EXPECT_TRUE(access(0, read, 8));  // the second one looked at none
    EXPECT_FALSE(access(0, atomic_update, 32));
    EXPECT_FALSE(access(0, read, 8));
}

TEST_F(RaceDetectorTest, ForgetsSharedMemoryBetweenBlocks) {
    EXPECT_FALSE(access(0, write));
    races_.begin_block();
    races_.forget(memory_);
    EXPECT_FALSE(access(1, write));
}

}  // namespace
}  // namespace espalier::device::host
