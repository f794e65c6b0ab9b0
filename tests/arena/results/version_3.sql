BEGIN TRANSACTION;
CREATE TABLE "ARENA_Attempt" (
	"SeriesId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Attempt" INTEGER NOT NULL, 
	"ContestId" TEXT NOT NULL, 
	"Contest" BLOB, 
	"Matchup" TEXT NOT NULL, 
	"Players" TEXT NOT NULL, 
	"Detail" TEXT NOT NULL, 
	"Started" DATETIME NOT NULL, 
	PRIMARY KEY ("SeriesId", "Name", "Attempt"), 
	CONSTRAINT "Attempt_from_1" CHECK ("Attempt" >= 1), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	UNIQUE ("ContestId")
);
INSERT INTO "ARENA_Attempt" VALUES(1,'large_0',1,'3bb65990496346aa88d010790875aac0/large_0/1',NULL,'large','["one", "three"]','{"setting": "seven", "terms": {"selector": "slow-knockout", "by": "fitness", "clones": "true", "kinds": "none", "pure": "false", "contestants": "one*1,two*1,three*1", "settings": "seven*0.5 go board_size=7 komi=0.5 move_limit=20 scorer=internal"}}','2026-11-21 09:55:39.680358');
INSERT INTO "ARENA_Attempt" VALUES(1,'large_0',2,'3bb65990496346aa88d010790875aac0/large_0/2',NULL,'large','["two", "one"]','{"setting": "seven", "terms": {"selector": "slow-knockout", "by": "fitness", "clones": "true", "kinds": "none", "pure": "false", "contestants": "one*1,two*1,three*1", "settings": "seven*0.5 go board_size=7 komi=0.5 move_limit=20 scorer=internal"}}','2026-11-21 09:55:39.955373');
INSERT INTO "ARENA_Attempt" VALUES(1,'small_0',1,'3bb65990496346aa88d010790875aac0/small_0/1',NULL,'small','["two", "one"]','{"setting": "0", "terms": {"selector": "least-played", "by": "fitness", "clones": "false", "kinds": "none", "pure": "true", "contestants": "one*1,two*1,three*1", "settings": "0*1 go board_size=5 komi=0.5 move_limit=20 scorer=internal"}}','2026-11-21 09:55:40.429999');
INSERT INTO "ARENA_Attempt" VALUES(1,'small_1',1,'3bb65990496346aa88d010790875aac0/small_1/1',NULL,'small','["two", "one"]','{"setting": "0", "terms": {"selector": "least-played", "by": "fitness", "clones": "false", "kinds": "none", "pure": "true", "contestants": "one*1,two*1,three*1", "settings": "0*1 go board_size=5 komi=0.5 move_limit=20 scorer=internal"}}','2026-11-21 09:55:40.776551');
CREATE TABLE "ARENA_Competition" (
	"SeriesId" INTEGER NOT NULL, 
	"Uuid" TEXT NOT NULL, 
	"Kind" TEXT NOT NULL, 
	"Game" TEXT NOT NULL, 
	"Settings" TEXT NOT NULL, 
	"MoveLimit" INTEGER NOT NULL, 
	"Scorer" TEXT NOT NULL, 
	"Created" DATETIME NOT NULL, 
	PRIMARY KEY ("SeriesId"), 
	CONSTRAINT "Scorer_known" CHECK ("Scorer" IN ('internal', 'players')), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	UNIQUE ("Uuid")
);
INSERT INTO "ARENA_Competition" VALUES(1,'3bb65990496346aa88d010790875aac0','mars','go','{"board_size": 5, "komi": 0.5}',20,'internal','2026-11-21 09:55:39.455415');
CREATE TABLE "ARENA_Competitor" (
	"ContestantId" INTEGER NOT NULL, 
	"SeriesId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Current" BOOLEAN NOT NULL, 
	PRIMARY KEY ("ContestantId"), 
	FOREIGN KEY("ContestantId") REFERENCES "SAGA_Contestant" ("ContestantId"), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId")
);
INSERT INTO "ARENA_Competitor" VALUES(1,1,'one',1);
INSERT INTO "ARENA_Competitor" VALUES(2,1,'two',1);
INSERT INTO "ARENA_Competitor" VALUES(3,1,'three',1);
CREATE TABLE "ARENA_Game" (
	"GameId" INTEGER NOT NULL, 
	"SeriesId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Matchup" TEXT NOT NULL, 
	"Attempt" INTEGER NOT NULL, 
	"Seed" BIGINT NOT NULL, 
	"ContestId" TEXT NOT NULL, 
	"Summary" TEXT NOT NULL, 
	"Detail" TEXT NOT NULL, 
	"Termination" TEXT NOT NULL, 
	"Voids" INTEGER NOT NULL, 
	"Started" DATETIME NOT NULL, 
	"StartBoard" TEXT NOT NULL, 
	"Record" TEXT NOT NULL, 
	"RecordExtension" TEXT NOT NULL, 
	"Warnings" TEXT NOT NULL, 
	PRIMARY KEY ("GameId"), 
	CONSTRAINT game_counted_once UNIQUE ("SeriesId", "Name"), 
	FOREIGN KEY("SeriesId", "Name", "Attempt") REFERENCES "ARENA_Attempt" ("SeriesId", "Name", "Attempt"), 
	FOREIGN KEY("GameId") REFERENCES "SAGA_Game" ("GameId"), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	UNIQUE ("ContestId")
);
INSERT INTO "ARENA_Game" VALUES(1,1,'large_0','large',2,1298257339267922466,'3bb65990496346aa88d010790875aac0/large_0/2','B+10.5','','score',1,'2026-11-21 09:55:39.963393','-------------------------------------------------','(;FF[4]AP[academy-arena:0.1.0]
C[Event: cup
Game id: large_0
Date: 2026-11-21 09:55 +0000
Result: B+10.5
two cpu time: 0.12 s
one cpu time: 0.08 s
Black: two: GNU Go:3.8
White: one: GNU Go:3.8]
CA[UTF-8]DT[2026-11-21]EV[cup]GM[1]GN[cup large_0]KM[0.5]PB[GNU Go:3.8]
PW[GNU Go:3.8]RE[B+10.5]SZ[7];B[dd];W[ee];B[de];W[ed];B[ec];W[fc];B[eb];W[fb];
B[dc];W[ef];B[df];W[dg];B[cg];W[eg];B[bf];W[fa];B[ea];W[tt];B[tt]C[B+10.5])
','sgf','');
INSERT INTO "ARENA_Game" VALUES(2,1,'small_0','small',1,4602970625749868488,'3bb65990496346aa88d010790875aac0/small_0/1','B+R','','resignation',0,'2026-11-21 09:55:40.443217','-------------------------','(;FF[4]AP[academy-arena:0.1.0]
C[Event: cup
Game id: small_0
Date: 2026-11-21 09:55 +0000
Result: B+R
two cpu time: 0.12 s
one cpu time: 0.06 s
Black: two: GNU Go:3.8
White: one: GNU Go:3.8]
CA[UTF-8]DT[2026-11-21]EV[cup]GM[1]GN[cup small_0]KM[0.5]PB[GNU Go:3.8]
PW[GNU Go:3.8]RE[B+R]SZ[5];B[cc];W[bc];B[bb];W[cb];B[db];W[ab];B[ca];W[ba];
B[cb]C[B+R])
','sgf','');
INSERT INTO "ARENA_Game" VALUES(3,1,'small_1','small',1,5414378794478820755,'3bb65990496346aa88d010790875aac0/small_1/1','B+R','','resignation',0,'2026-11-21 09:55:40.787446','-------------------------','(;FF[4]AP[academy-arena:0.1.0]
C[Event: cup
Game id: small_1
Date: 2026-11-21 09:55 +0000
Result: B+R
two cpu time: 0.12 s
one cpu time: 0.06 s
Black: two: GNU Go:3.8
White: one: GNU Go:3.8]
CA[UTF-8]DT[2026-11-21]EV[cup]GM[1]GN[cup small_1]KM[0.5]PB[GNU Go:3.8]
PW[GNU Go:3.8]RE[B+R]SZ[5];B[cc];W[cb];B[bb];W[bc];B[db];W[ab];B[ca];W[ba];
B[cb]C[B+R])
','sgf','');
CREATE TABLE "ARENA_Meta" (
	"Key" TEXT NOT NULL, 
	"Value" TEXT NOT NULL, 
	PRIMARY KEY ("Key")
);
INSERT INTO "ARENA_Meta" VALUES('schema_version','3');
CREATE TABLE "ARENA_Move" (
	"GameId" INTEGER NOT NULL, 
	"Ply" INTEGER NOT NULL, 
	"Seat" INTEGER NOT NULL, 
	"Text" TEXT NOT NULL, 
	"Seconds" FLOAT NOT NULL, 
	"LegalMoves" INTEGER, 
	"Interaction" BOOLEAN, 
	"Board" TEXT, 
	"Comment" TEXT NOT NULL, 
	"ClockSeconds" FLOAT, 
	"ClockStones" INTEGER, 
	"Opening" BOOLEAN NOT NULL, 
	PRIMARY KEY ("GameId", "Ply"), 
	CONSTRAINT "Ply_and_seat_from_1" CHECK ("Ply" >= 1 AND "Seat" >= 1), 
	FOREIGN KEY("GameId") REFERENCES "SAGA_Game" ("GameId")
);
INSERT INTO "ARENA_Move" VALUES(1,1,1,'D4',0.25,12,0,'x--','it''s é',9.5,3,1);
INSERT INTO "ARENA_Move" VALUES(1,2,2,'E3',4.81111400586087256669e-03,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,3,1,'D3',6.93869820024701766669e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,4,2,'E4',2.91747659939574077725e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,5,1,'E5',3.82294680021004751324e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,6,2,'F5',2.99570999995921738445e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,7,1,'E6',0.0444026249970193,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,8,2,'F6',2.26635910003096796572e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,9,1,'D5',2.82777659958810545504e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,10,2,'E2',1.55580830032704398036e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,11,1,'D2',8.50025899853790178894e-03,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,12,2,'D1',1.4078285996220074594e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,13,1,'C1',1.06505040021147578954e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,14,2,'E1',2.09487370011629536747e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,15,1,'B2',1.97330459996010176837e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,16,2,'F7',7.76788700022734701633e-03,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,17,1,'E7',8.156098003382794559e-03,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,18,2,'pass',3.22643600520677864551e-03,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(1,19,1,'pass',1.5978271003405097872e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(2,1,1,'C3',2.59770000411663204431e-04,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(2,2,2,'B3',1.08621399704134091734e-03,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(2,3,1,'B4',2.66449570044642314314e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(2,4,2,'C4',1.08059850026620551943e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(2,5,1,'D4',0.0999154000019189,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(2,6,2,'A4',5.18421819942886941134e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(2,7,1,'C5',3.76331259976723231375e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(2,8,2,'B5',1.45436210004845634102e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(2,9,1,'C4',3.88997460031532682478e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(3,1,1,'C3',3.32974996126722544431e-04,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(3,2,2,'C4',9.94148002064321190118e-04,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(3,3,1,'B4',2.23741730005713179707e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(3,4,2,'B3',1.06516530067892745137e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(3,5,1,'D4',1.02752819999295752495e-01,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(3,6,2,'A4',9.29534000024432316422e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(3,7,1,'C5',0.0719121419970179,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(3,8,2,'B5',1.57898120014579035341e-02,NULL,NULL,NULL,'',NULL,NULL,0);
INSERT INTO "ARENA_Move" VALUES(3,9,1,'C4',6.3546067001880146563e-02,NULL,NULL,NULL,'',NULL,NULL,0);
CREATE TABLE "ARENA_MoveValue" (
	"GameId" INTEGER NOT NULL, 
	"Ply" INTEGER NOT NULL, 
	"Seat" INTEGER NOT NULL, 
	"Value" FLOAT NOT NULL, 
	PRIMARY KEY ("GameId", "Ply", "Seat"), 
	FOREIGN KEY("GameId", "Ply") REFERENCES "ARENA_Move" ("GameId", "Ply"), 
	CONSTRAINT "Value_0_to_1" CHECK ("Value" BETWEEN 0 AND 1), 
	FOREIGN KEY("GameId") REFERENCES "SAGA_Game" ("GameId")
);
CREATE TABLE "ARENA_Outbox" (
	"OutboxId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"SeriesId" INTEGER NOT NULL, 
	"ContestId" TEXT NOT NULL, 
	"Report" BLOB, 
	"State" TEXT NOT NULL, 
	"Attempts" INTEGER NOT NULL, 
	"LastError" TEXT NOT NULL, 
	"Changed" DATETIME NOT NULL, 
	CONSTRAINT "State_known" CHECK ("State" IN ('waiting', 'acknowledged', 'refused')), 
	CONSTRAINT acknowledged_is_gone CHECK (("State" = 'acknowledged') = ("Report" IS NULL)), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	UNIQUE ("ContestId")
);
CREATE TABLE "ARENA_Rating" (
	"GameId" INTEGER NOT NULL, 
	"Seat" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"EloBefore" FLOAT NOT NULL, 
	"EloAfter" FLOAT NOT NULL, 
	PRIMARY KEY ("GameId", "Seat"), 
	FOREIGN KEY("GameId") REFERENCES "SAGA_Game" ("GameId")
);
INSERT INTO "ARENA_Rating" VALUES(1,1,'two',1000.0,1015.0);
INSERT INTO "ARENA_Rating" VALUES(1,2,'one',1000.0,985.0);
INSERT INTO "ARENA_Rating" VALUES(2,1,'two',1015.0,1.02870800523933371547e+03);
INSERT INTO "ARENA_Rating" VALUES(2,2,'one',985.0,9.71291994760666398209e+02);
INSERT INTO "ARENA_Rating" VALUES(3,1,'two',1.02870800523933371547e+03,1.04125147855793488812e+03);
INSERT INTO "ARENA_Rating" VALUES(3,2,'one',9.71291994760666398209e+02,9.58748521442065111848e+02);
CREATE TABLE "ARENA_Seat" (
	"GameId" INTEGER NOT NULL, 
	"Seat" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Fault" TEXT NOT NULL, 
	"Remark" TEXT NOT NULL, 
	"WallSeconds" FLOAT NOT NULL, 
	"PeakMemoryBytes" BIGINT, 
	"EngineName" TEXT NOT NULL, 
	"EngineDescription" TEXT NOT NULL, 
	PRIMARY KEY ("GameId", "Seat"), 
	CONSTRAINT "Seat_from_1" CHECK ("Seat" >= 1), 
	FOREIGN KEY("GameId") REFERENCES "SAGA_Game" ("GameId")
);
INSERT INTO "ARENA_Seat" VALUES(1,1,'two','none','',2.43576121007208712399e-01,22499328,'GNU Go:3.8','GNU Go:3.8');
INSERT INTO "ARENA_Seat" VALUES(1,2,'one','none','',1.48186000005807727575e-01,22482944,'GNU Go:3.8','GNU Go:3.8');
INSERT INTO "ARENA_Seat" VALUES(2,1,'two','none','',2.03352999007620383054e-01,22827008,'GNU Go:3.8','GNU Go:3.8');
INSERT INTO "ARENA_Seat" VALUES(2,2,'one','none','',8.88231799908680841326e-02,22437888,'GNU Go:3.8','GNU Go:3.8');
INSERT INTO "ARENA_Seat" VALUES(3,1,'two','none','',2.60918176994891837239e-01,22654976,'GNU Go:3.8','GNU Go:3.8');
INSERT INTO "ARENA_Seat" VALUES(3,2,'one','none','',1.26661840018641669303e-01,22433792,'GNU Go:3.8','GNU Go:3.8');
CREATE TABLE "ARENA_Void" (
	"SeriesId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Attempt" INTEGER NOT NULL, 
	"Cause" TEXT NOT NULL, 
	"Reason" TEXT NOT NULL, 
	"Seconds" FLOAT NOT NULL, 
	"Ended" DATETIME NOT NULL, 
	PRIMARY KEY ("SeriesId", "Name", "Attempt"), 
	FOREIGN KEY("SeriesId", "Name", "Attempt") REFERENCES "ARENA_Attempt" ("SeriesId", "Name", "Attempt"), 
	CONSTRAINT "Cause_known" CHECK ("Cause" IN ('void', 'interrupted')), 
	CONSTRAINT "Void_seconds_not_negative" CHECK ("Seconds" >= 0), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId")
);
INSERT INTO "ARENA_Void" VALUES(1,'large_0',1,'void','player three: ''protocol_version'': exited with status 1',2.41779327392578125e-01,'2026-11-21 09:55:39.932767');
CREATE TABLE "SAGA_Client" (
	"ClientId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"Family" TEXT NOT NULL, 
	"Release" TEXT NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Version" TEXT NOT NULL, 
	"Command" TEXT NOT NULL, 
	"WorkingDir" TEXT NOT NULL, 
	"Lazy" BOOLEAN NOT NULL, 
	"Superseded" BOOLEAN NOT NULL, 
	"Obsolete" BOOLEAN NOT NULL, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Client_named" CHECK ("Family" <> '' AND "Command" <> '')
);
INSERT INTO "SAGA_Client" VALUES(1,'one','','GNU Go','3.8','/usr/games/gnugo --mode gtp --level 1 --seed ''{seed}''','/tmp/runs5_v3',0,0,0,'');
INSERT INTO "SAGA_Client" VALUES(2,'two','','GNU Go','3.8','/usr/games/gnugo --mode gtp --level 1 --seed ''{seed}''','/tmp/runs5_v3',0,0,0,'');
INSERT INTO "SAGA_Client" VALUES(3,'three','','','','/bin/false','/tmp/runs5_v3',0,0,0,'');
CREATE TABLE "SAGA_ClientVariant" (
	"ClientId" INTEGER NOT NULL, 
	"VariantId" INTEGER NOT NULL, 
	"AutoInhibit" BOOLEAN NOT NULL, 
	PRIMARY KEY ("ClientId", "VariantId"), 
	FOREIGN KEY("ClientId") REFERENCES "SAGA_Client" ("ClientId"), 
	FOREIGN KEY("VariantId") REFERENCES "SAGA_Variant" ("VariantId")
);
INSERT INTO "SAGA_ClientVariant" VALUES(3,1,1);
CREATE TABLE "SAGA_Contestant" (
	"ContestantId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"ClientId" INTEGER NOT NULL, 
	"Personality" TEXT NOT NULL, 
	"Options" TEXT NOT NULL, 
	"PlatformId" INTEGER, 
	"FinishTime" INTEGER, 
	"Throttle" FLOAT, 
	"Superseded" BOOLEAN NOT NULL, 
	"Obsolete" BOOLEAN NOT NULL, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "FinishTime_not_negative" CHECK ("FinishTime" >= 0), 
	FOREIGN KEY("ClientId") REFERENCES "SAGA_Client" ("ClientId"), 
	FOREIGN KEY("PlatformId") REFERENCES "SAGA_Platform" ("PlatformId")
);
INSERT INTO "SAGA_Contestant" VALUES(1,1,'','',NULL,5000,NULL,0,0,'');
INSERT INTO "SAGA_Contestant" VALUES(2,2,'','',NULL,5000,NULL,0,0,'');
INSERT INTO "SAGA_Contestant" VALUES(3,3,'','',NULL,5000,NULL,0,0,'');
CREATE TABLE "SAGA_Game" (
	"GameId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"SeriesId" INTEGER NOT NULL, 
	"SettingId" INTEGER NOT NULL, 
	"Finished" DATETIME NOT NULL, 
	"SetupTime" FLOAT NOT NULL, 
	"PlayTime" FLOAT NOT NULL, 
	"TotalTime" FLOAT NOT NULL, 
	"Termination" INTEGER, 
	"Years" INTEGER NOT NULL, 
	"Survivors" INTEGER, 
	"Leaders" INTEGER, 
	"Winners" INTEGER NOT NULL, 
	"MaxSupplies" FLOAT, 
	CONSTRAINT "Termination_1_to_6" CHECK ("Termination" BETWEEN 1 AND 6), 
	CONSTRAINT "TotalTime_holds_all" CHECK ("TotalTime" >= "SetupTime" + "PlayTime" - 0.000001), 
	CONSTRAINT known_result_has_winners CHECK (("Termination" IS NULL) = ("Winners" = 0)), 
	CONSTRAINT solo_has_one_winner CHECK ("Termination" <> 1 OR "Winners" = 1), 
	CONSTRAINT "SetupTime_not_negative" CHECK ("SetupTime" >= 0), 
	CONSTRAINT "PlayTime_not_negative" CHECK ("PlayTime" >= 0), 
	CONSTRAINT "Years_not_negative" CHECK ("Years" >= 0), 
	CONSTRAINT "Survivors_not_negative" CHECK ("Survivors" >= 0), 
	CONSTRAINT "Winners_not_negative" CHECK ("Winners" >= 0), 
	CONSTRAINT "Leaders_at_least_1" CHECK ("Leaders" >= 1), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	FOREIGN KEY("SettingId") REFERENCES "SAGA_Setting" ("SettingId")
);
INSERT INTO "SAGA_Game" VALUES(1,1,1,'2026-11-21 09:55:40.379029',1.80083830055082216858e-02,3.9762717999838059768e-01,6.57414890396466944366e-01,1,10,2,1,1,30.0);
INSERT INTO "SAGA_Game" VALUES(2,1,2,'2026-11-21 09:55:40.761549',2.39023499962058849632e-02,2.94430415000533685088e-01,3.18332764996739570051e-01,1,5,2,NULL,1,NULL);
INSERT INTO "SAGA_Game" VALUES(3,1,2,'2026-11-21 09:55:41.199276',1.94067920019733719527e-02,3.92423835997760761529e-01,4.11830627999734133481e-01,1,5,2,NULL,1,NULL);
CREATE TABLE "SAGA_Platform" (
	"PlatformId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"Name" TEXT NOT NULL, 
	"Fraction" FLOAT, 
	"Quality" INTEGER, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Platform_once" UNIQUE ("Name", "Fraction", "Quality"), 
	CONSTRAINT "Fraction_is_a_share" CHECK ("Fraction" BETWEEN 0 AND 1), 
	CONSTRAINT "Quality_1_to_3" CHECK ("Quality" IN (1, 2, 3))
);
INSERT INTO "SAGA_Platform" VALUES(1,'a machine',1.0,1,'');
CREATE TABLE "SAGA_Player" (
	"GameId" INTEGER NOT NULL, 
	"PowerId" INTEGER NOT NULL, 
	"ContestantId" INTEGER NOT NULL, 
	"Supplies" FLOAT, 
	"Elimination" INTEGER, 
	"Disorder" INTEGER, 
	"Problem" INTEGER, 
	"Winner" INTEGER NOT NULL, 
	"Grade" FLOAT, 
	"Rank" INTEGER, 
	"Cpu" FLOAT, 
	PRIMARY KEY ("GameId", "PowerId"), 
	CONSTRAINT "Problem_0_to_2" CHECK ("Problem" IN (0, 1, 2)), 
	CONSTRAINT "Winner_is_a_truth" CHECK ("Winner" IN (0, 1)), 
	CONSTRAINT "Rank_from_1" CHECK ("Rank" >= 1), 
	CONSTRAINT "Disorder_has_a_Problem" CHECK ("Disorder" IS NULL OR COALESCE("Problem", 0) > 0), 
	CONSTRAINT "Elimination_not_negative" CHECK ("Elimination" >= 0), 
	CONSTRAINT "Disorder_not_negative" CHECK ("Disorder" >= 0), 
	CONSTRAINT "Cpu_not_negative" CHECK ("Cpu" >= 0), 
	FOREIGN KEY("GameId") REFERENCES "SAGA_Game" ("GameId"), 
	FOREIGN KEY("PowerId") REFERENCES "SAGA_Power" ("PowerId"), 
	FOREIGN KEY("ContestantId") REFERENCES "SAGA_Contestant" ("ContestantId")
);
INSERT INTO "SAGA_Player" VALUES(1,1,2,30.0,NULL,NULL,0,1,30.0,1,1.18688999999999988954e-01);
INSERT INTO "SAGA_Player" VALUES(1,2,1,19.5,NULL,NULL,0,0,19.5,2,0.076106);
INSERT INTO "SAGA_Player" VALUES(2,3,2,NULL,NULL,NULL,0,1,NULL,1,1.18018999999999985028e-01);
INSERT INTO "SAGA_Player" VALUES(2,4,1,NULL,NULL,NULL,0,0,NULL,2,5.60349999999999945354e-02);
INSERT INTO "SAGA_Player" VALUES(3,3,2,NULL,NULL,NULL,0,1,NULL,1,0.116897);
INSERT INTO "SAGA_Player" VALUES(3,4,1,NULL,NULL,NULL,0,0,NULL,2,0.056497);
CREATE TABLE "SAGA_Power" (
	"PowerId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"VariantId" INTEGER NOT NULL, 
	"Code" TEXT NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Power_once" UNIQUE ("VariantId", "Code"), 
	FOREIGN KEY("VariantId") REFERENCES "SAGA_Variant" ("VariantId")
);
INSERT INTO "SAGA_Power" VALUES(1,1,'1','Black','');
INSERT INTO "SAGA_Power" VALUES(2,1,'2','White','');
INSERT INTO "SAGA_Power" VALUES(3,2,'1','Black','');
INSERT INTO "SAGA_Power" VALUES(4,2,'2','White','');
CREATE TABLE "SAGA_Series" (
	"SeriesId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"Name" TEXT NOT NULL, 
	"State" INTEGER NOT NULL, 
	"Weight" FLOAT NOT NULL, 
	"Pure" BOOLEAN NOT NULL, 
	"GameLim" INTEGER, 
	"Selector" TEXT NOT NULL, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "State_not_negative" CHECK ("State" >= 0), 
	CONSTRAINT "Weight_not_negative" CHECK ("Weight" >= 0), 
	CONSTRAINT "GameLim_not_negative" CHECK ("GameLim" >= 0), 
	UNIQUE ("Name")
);
INSERT INTO "SAGA_Series" VALUES(1,'cup',2,1.0,0,3,'mars small: least-played clones=no contestants=one*1,two*1,three*1 settings=0*1; large: slow-knockout by=fitness clones=yes contestants=one*1,two*1,three*1 settings=seven*0.5','');
CREATE TABLE "SAGA_SeriesContestant" (
	"SeriesId" INTEGER NOT NULL, 
	"ContestantId" INTEGER NOT NULL, 
	"Weight" FLOAT NOT NULL, 
	"Notes" TEXT NOT NULL, 
	PRIMARY KEY ("SeriesId", "ContestantId"), 
	CONSTRAINT contestant_weight_not_negative CHECK ("Weight" >= 0), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	FOREIGN KEY("ContestantId") REFERENCES "SAGA_Contestant" ("ContestantId")
);
INSERT INTO "SAGA_SeriesContestant" VALUES(1,1,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(1,2,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(1,3,1.0,'');
CREATE TABLE "SAGA_SeriesSetting" (
	"SeriesId" INTEGER NOT NULL, 
	"SettingId" INTEGER NOT NULL, 
	"Weight" FLOAT NOT NULL, 
	"Notes" TEXT NOT NULL, 
	PRIMARY KEY ("SeriesId", "SettingId"), 
	CONSTRAINT setting_weight_not_negative CHECK ("Weight" >= 0), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	FOREIGN KEY("SettingId") REFERENCES "SAGA_Setting" ("SettingId")
);
INSERT INTO "SAGA_SeriesSetting" VALUES(1,1,0.5,'');
INSERT INTO "SAGA_SeriesSetting" VALUES(1,2,1.0,'');
CREATE TABLE "SAGA_Setting" (
	"SettingId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"PlatformId" INTEGER, 
	"VariantId" INTEGER NOT NULL, 
	"Obsolete" BOOLEAN NOT NULL, 
	"Level" INTEGER, 
	"SL" INTEGER, 
	"IL" INTEGER, 
	"PTL" INTEGER, 
	"MTL" INTEGER, 
	"RTL" INTEGER, 
	"BTL" INTEGER, 
	"AOA" BOOLEAN, 
	"PDA" BOOLEAN, 
	"NPR" BOOLEAN, 
	"NPB" BOOLEAN, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Level_not_negative" CHECK ("Level" >= 0), 
	CONSTRAINT "SL_not_negative" CHECK ("SL" >= 0), 
	CONSTRAINT "IL_not_negative" CHECK ("IL" >= 0), 
	CONSTRAINT "PTL_not_negative" CHECK ("PTL" >= 0), 
	CONSTRAINT "MTL_not_negative" CHECK ("MTL" >= 0), 
	CONSTRAINT "RTL_not_negative" CHECK ("RTL" >= 0), 
	CONSTRAINT "BTL_not_negative" CHECK ("BTL" >= 0), 
	FOREIGN KEY("PlatformId") REFERENCES "SAGA_Platform" ("PlatformId"), 
	FOREIGN KEY("VariantId") REFERENCES "SAGA_Variant" ("VariantId")
);
INSERT INTO "SAGA_Setting" VALUES(1,1,1,0,0,NULL,NULL,NULL,60,NULL,NULL,NULL,NULL,NULL,NULL,'{"game": "go", "move_limit": 20, "scorer": "internal", "settings": {"board_size": 7, "komi": 0.5}}');
INSERT INTO "SAGA_Setting" VALUES(2,1,2,0,0,NULL,NULL,NULL,60,NULL,NULL,NULL,NULL,NULL,NULL,'{"game": "go", "move_limit": 20, "scorer": "internal", "settings": {"board_size": 5, "komi": 0.5}}');
CREATE TABLE "SAGA_Variant" (
	"VariantId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"Name" TEXT NOT NULL, 
	"Powers" INTEGER NOT NULL, 
	"Supplies" FLOAT, 
	"FirstYear" INTEGER, 
	"FirstSeason" TEXT, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Powers_at_least_1" CHECK ("Powers" >= 1), 
	UNIQUE ("Name")
);
INSERT INTO "SAGA_Variant" VALUES(1,'go-7x7',2,NULL,NULL,NULL,'');
INSERT INTO "SAGA_Variant" VALUES(2,'go-5x5',2,NULL,NULL,NULL,'');
INSERT INTO "ARENA_MoveValue" VALUES(1,1,1,0.5);
INSERT INTO "ARENA_MoveValue" VALUES(1,1,2,0.25);
CREATE VIEW "ARENA_Score" AS 
SELECT p."GameId", p."PowerId",
  CASE WHEN g."Winners" = 0 THEN 0.0
       WHEN p."Winner" = 1 THEN 1.0 * v."Powers" / g."Winners" - 1.0
       ELSE -1.0 END AS "Score"
FROM "SAGA_Player" p
JOIN "SAGA_Game" g ON g."GameId" = p."GameId"
JOIN "SAGA_Setting" s ON s."SettingId" = g."SettingId"
JOIN "SAGA_Variant" v ON v."VariantId" = s."VariantId";
CREATE VIEW "Dip_Bot" AS 
SELECT c."ContestantId" AS "Id",
  l."Family" || CASE WHEN l."Release" = '' THEN '' ELSE ' ' || l."Release" END
    || CASE WHEN c."Personality" = '' THEN '' ELSE '~' || c."Personality" END AS "Name",
  CASE WHEN l."Name" = '' THEN l."Family" ELSE l."Name" END
    || CASE WHEN l."Version" = '' THEN '' ELSE ' ' || l."Version" END AS "Title"
FROM "SAGA_Contestant" c
JOIN "SAGA_Client" l ON l."ClientId" = c."ClientId";
CREATE VIEW "Dip_Game" AS 
SELECT g."GameId" AS "Id", e."Name" AS "Tournament", g."Finished", g."SetupTime", g."PlayTime", g."TotalTime",
  g."Years", g."Survivors", g."Leaders", g."Winners", COALESCE(v."Supplies", 1) AS "MaxSC",
  s."VariantId" AS "Variant", s."Level", s."SL" AS "Kill", s."PTL", s."MTL", s."RTL", s."BTL",
  s."AOA", s."NPR", s."NPB"
FROM "SAGA_Game" g
JOIN "SAGA_Series" e ON e."SeriesId" = g."SeriesId"
JOIN "SAGA_Setting" s ON s."SettingId" = g."SettingId"
JOIN "SAGA_Variant" v ON v."VariantId" = s."VariantId";
CREATE VIEW "Dip_Player" AS 
WITH RECURSIVE play AS (
  SELECT g."SeriesId" AS series, p."ContestantId" AS bot, p."GameId" AS game, p."PowerId" AS power,
    CASE WHEN v."Supplies" IS NULL THEN p."Winner" ELSE p."Supplies" END AS sc,
    CASE WHEN p."Elimination" IS NOT NULL THEN p."Elimination"
         WHEN v."Supplies" IS NULL AND p."Winner" = 0 AND g."Winners" > 0 THEN g."Years" END AS years,
    p."Winner" AS won,
    CASE WHEN g."MaxSupplies" IS NULL THEN p."Winner"
         WHEN p."Supplies" = g."MaxSupplies" THEN 1 ELSE 0 END AS led,
    CASE WHEN g."MaxSupplies" IS NULL THEN p."Winner"
         WHEN p."Supplies" > 0 THEN 1 ELSE 0 END AS survived,
    CASE WHEN g."Winners" = 0 THEN 0 ELSE 1 END AS decided,
    ROW_NUMBER() OVER (PARTITION BY g."SeriesId", p."ContestantId" ORDER BY p."GameId", p."PowerId") AS number
  FROM "SAGA_Player" p
  JOIN "SAGA_Game" g ON g."GameId" = p."GameId"
  JOIN "SAGA_Setting" s ON s."SettingId" = g."SettingId"
  JOIN "SAGA_Variant" v ON v."VariantId" = s."VariantId"
), taken AS MATERIALIZED (
  SELECT series, bot, game, power, sc, years, number, decided,
    1.0 * led * COUNT(*) OVER pot / NULLIF(SUM(led) OVER pot, 0) AS leader,
    1.0 * survived * COUNT(*) OVER pot / NULLIF(SUM(survived) OVER pot, 0) AS survivor,
    1.0 * won * COUNT(*) OVER pot / NULLIF(SUM(won) OVER pot, 0) AS winner
  FROM play WINDOW pot AS (PARTITION BY game)
), averages AS (
  SELECT series, bot, CAST(0 AS BIGINT) AS number, CAST(1.0 AS DOUBLE PRECISION) AS strength,
    CAST(1.0 AS DOUBLE PRECISION) AS tenacity, CAST(1.0 AS DOUBLE PRECISION) AS fitness
  FROM taken WHERE number = 1
  UNION ALL
  SELECT a.series, a.bot, t.number,
    CASE WHEN t.decided = 0 THEN a.strength ELSE 0.9 * a.strength + 0.1 * t.leader END,
    CASE WHEN t.decided = 0 THEN a.tenacity ELSE 0.9 * a.tenacity + 0.1 * t.survivor END,
    CASE WHEN t.decided = 0 THEN a.fitness ELSE 0.9 * a.fitness + 0.1 * t.winner END
  FROM averages a JOIN taken t ON t.series = a.series AND t.bot = a.bot AND t.number = a.number + 1
)
SELECT t.game AS "Game", t.power AS "Power", t.bot AS "Bot", t.sc AS "SC", t.years AS "Years",
  a.strength AS "Strength", a.tenacity AS "Tenacity", a.fitness AS "Fitness"
FROM taken t
JOIN averages a ON a.series = t.series AND a.bot = t.bot AND a.number = t.number;
CREATE VIEW "Dip_Power" AS 
SELECT "PowerId" AS "Id", "VariantId" AS "Variant", "Code" FROM "SAGA_Power";
CREATE VIEW "Dip_Variant" AS 
SELECT "VariantId" AS "Id", "Name", "Powers", "Supplies" AS "SC", "FirstYear" AS "Year0",
  "FirstSeason" AS "Season0"
FROM "SAGA_Variant";
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('SAGA_Series',1);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Client',3);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Contestant',3);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Platform',1);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Variant',2);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Power',4);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Setting',2);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Game',3);
COMMIT;
