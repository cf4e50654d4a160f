"""Clock gating and error control (v1 hardware; names only, it has no function here).

Notation: see :mod:`cudla_sim.nvdla.facts.registers`. Source: nvdla/hw register headers
(v1 ``arnvdla.h``, master ``spec/manual/*.rdl``).
"""

GEC = """
000 FEATURE NUM_ERR[31:16].r=67 NUM_ERR_SLICES[5:0].r=3
004 SWRESET SWRST[0].w
008 MISSIONERR_TYPE CODE[5:0].r=5
00c CURRENT_COUNTER_VALUE VALUE[8:0].r
014 MISSIONERR_INDEX IDX[6:0]
018 CORRECTABLE_THRESHOLD COUNT[7:0]=255
01c MISSIONERR_INJECT_UNLOCK VALUE[7:0]~lock
030 ERRSLICE0_MISSIONERR_ENABLE ERR31[31]=1~enable ERR30[30]=1~enable ERR29[29]=1~enable
    ERR28[28]=1~enable ERR27[27]=1~enable ERR26[26]=1~enable ERR25[25]=1~enable ERR24[24]=1~enable
    ERR23[23]=1~enable ERR22[22]=1~enable ERR21[21]=1~enable ERR20[20]=1~enable ERR19[19]=1~enable
    ERR18[18]=1~enable ERR17[17]=1~enable ERR16[16]=1~enable ERR15[15]=1~enable ERR14[14]=1~enable
    ERR13[13]=1~enable ERR12[12]=1~enable ERR11[11]=1~enable ERR10[10]=1~enable ERR9[9]=1~enable
    ERR8[8]=1~enable ERR7[7]=1~enable ERR6[6]=1~enable ERR5[5]=1~enable ERR4[4]=1~enable
    ERR3[3]=1~enable ERR2[2]=1~enable ERR1[1]=1~enable ERR0[0]=1~enable
034 ERRSLICE0_MISSIONERR_FORCE ERR31[31].w~force ERR30[30].w~force ERR29[29].w~force
    ERR28[28].w~force ERR27[27].w~force ERR26[26].w~force ERR25[25].w~force ERR24[24].w~force
    ERR23[23].w~force ERR22[22].w~force ERR21[21].w~force ERR20[20].w~force ERR19[19].w~force
    ERR18[18].w~force ERR17[17].w~force ERR16[16].w~force ERR15[15].w~force ERR14[14].w~force
    ERR13[13].w~force ERR12[12].w~force ERR11[11].w~force ERR10[10].w~force ERR9[9].w~force
    ERR8[8].w~force ERR7[7].w~force ERR6[6].w~force ERR5[5].w~force ERR4[4].w~force
    ERR3[3].w~force ERR2[2].w~force ERR1[1].w~force ERR0[0].w~force
038 ERRSLICE0_MISSIONERR_STATUS ERR31[31] ERR30[30] ERR29[29] ERR28[28] ERR27[27] ERR26[26]
    ERR25[25] ERR24[24] ERR23[23] ERR22[22] ERR21[21] ERR20[20] ERR19[19] ERR18[18] ERR17[17]
    ERR16[16] ERR15[15] ERR14[14] ERR13[13] ERR12[12] ERR11[11] ERR10[10] ERR9[9] ERR8[8] ERR7[7]
    ERR6[6] ERR5[5] ERR4[4] ERR3[3] ERR2[2] ERR1[1] ERR0[0]
03c ERRSLICE0_MISSIONERR_INJECT ERR31[31]~enable ERR30[30]~enable ERR29[29]~enable
    ERR28[28]~enable ERR27[27]~enable ERR26[26]~enable ERR25[25]~enable ERR24[24]~enable
    ERR23[23]~enable ERR22[22]~enable ERR21[21]~enable ERR20[20]~enable ERR19[19]~enable
    ERR18[18]~enable ERR17[17]~enable ERR16[16]~enable ERR15[15]~enable ERR8[8]~enable
    ERR7[7]~enable ERR6[6]~enable ERR5[5]~enable ERR4[4]~enable ERR3[3]~enable ERR2[2]~enable
    ERR1[1]~enable ERR0[0]~enable
040 ERRSLICE0_LATENTERR_ENABLE ERR31[31]=1~enable ERR30[30]=1~enable ERR29[29]=1~enable
    ERR28[28]=1~enable ERR27[27]=1~enable ERR26[26]=1~enable ERR25[25]=1~enable ERR24[24]=1~enable
    ERR23[23]=1~enable ERR22[22]=1~enable ERR21[21]=1~enable ERR20[20]=1~enable ERR19[19]=1~enable
    ERR18[18]=1~enable ERR17[17]=1~enable ERR16[16]=1~enable ERR15[15]=1~enable ERR14[14]=1~enable
    ERR13[13]=1~enable ERR12[12]=1~enable ERR11[11]=1~enable ERR10[10]=1~enable ERR9[9]=1~enable
    ERR8[8]=1~enable ERR7[7]=1~enable ERR6[6]=1~enable ERR5[5]=1~enable ERR4[4]=1~enable
    ERR3[3]=1~enable ERR2[2]=1~enable ERR1[1]=1~enable ERR0[0]=1~enable
044 ERRSLICE0_LATENTERR_FORCE ERR31[31].w~force ERR30[30].w~force ERR29[29].w~force
    ERR28[28].w~force ERR27[27].w~force ERR26[26].w~force ERR25[25].w~force ERR24[24].w~force
    ERR23[23].w~force ERR22[22].w~force ERR21[21].w~force ERR20[20].w~force ERR19[19].w~force
    ERR18[18].w~force ERR17[17].w~force ERR16[16].w~force ERR15[15].w~force ERR14[14].w~force
    ERR13[13].w~force ERR12[12].w~force ERR11[11].w~force ERR10[10].w~force ERR9[9].w~force
    ERR8[8].w~force ERR7[7].w~force ERR6[6].w~force ERR5[5].w~force ERR4[4].w~force
    ERR3[3].w~force ERR2[2].w~force ERR1[1].w~force ERR0[0].w~force
048 ERRSLICE0_LATENTERR_STATUS ERR31[31] ERR30[30] ERR29[29] ERR28[28] ERR27[27] ERR26[26]
    ERR25[25] ERR24[24] ERR23[23] ERR22[22] ERR21[21] ERR20[20] ERR19[19] ERR18[18] ERR17[17]
    ERR16[16] ERR15[15] ERR14[14] ERR13[13] ERR12[12] ERR11[11] ERR10[10] ERR9[9] ERR8[8] ERR7[7]
    ERR6[6] ERR5[5] ERR4[4] ERR3[3] ERR2[2] ERR1[1] ERR0[0]
050 ERRSLICE0_COUNTER_RELOAD ERR31[31].w~reload ERR30[30].w~reload ERR29[29].w~reload
    ERR28[28].w~reload ERR27[27].w~reload ERR26[26].w~reload ERR25[25].w~reload ERR24[24].w~reload
    ERR23[23].w~reload ERR22[22].w~reload ERR21[21].w~reload ERR20[20].w~reload ERR19[19].w~reload
    ERR18[18].w~reload ERR17[17].w~reload ERR16[16].w~reload ERR15[15].w~reload ERR14[14].w~reload
    ERR13[13].w~reload ERR12[12].w~reload ERR11[11].w~reload ERR10[10].w~reload ERR9[9].w~reload
    ERR8[8].w~reload ERR7[7].w~reload ERR6[6].w~reload ERR5[5].w~reload ERR4[4].w~reload
    ERR3[3].w~reload ERR2[2].w~reload ERR1[1].w~reload ERR0[0].w~reload
060 ERRSLICE1_MISSIONERR_ENABLE ERR63[31]=1~enable ERR62[30]=1~enable ERR61[29]=1~enable
    ERR60[28]=1~enable ERR59[27]=1~enable ERR58[26]=1~enable ERR57[25]=1~enable ERR56[24]=1~enable
    ERR55[23]=1~enable ERR54[22]=1~enable ERR53[21]=1~enable ERR52[20]=1~enable ERR51[19]=1~enable
    ERR50[18]=1~enable ERR49[17]=1~enable ERR48[16]=1~enable ERR47[15]=1~enable ERR46[14]=1~enable
    ERR45[13]=1~enable ERR44[12]=1~enable ERR43[11]=1~enable ERR42[10]=1~enable ERR41[9]=1~enable
    ERR40[8]=1~enable ERR39[7]=1~enable ERR38[6]=1~enable ERR37[5]=1~enable ERR36[4]=1~enable
    ERR35[3]=1~enable ERR34[2]=1~enable ERR33[1]=1~enable ERR32[0]=1~enable
064 ERRSLICE1_MISSIONERR_FORCE ERR63[31].w~force ERR62[30].w~force ERR61[29].w~force
    ERR60[28].w~force ERR59[27].w~force ERR58[26].w~force ERR57[25].w~force ERR56[24].w~force
    ERR55[23].w~force ERR54[22].w~force ERR53[21].w~force ERR52[20].w~force ERR51[19].w~force
    ERR50[18].w~force ERR49[17].w~force ERR48[16].w~force ERR47[15].w~force ERR46[14].w~force
    ERR45[13].w~force ERR44[12].w~force ERR43[11].w~force ERR42[10].w~force ERR41[9].w~force
    ERR40[8].w~force ERR39[7].w~force ERR38[6].w~force ERR37[5].w~force ERR36[4].w~force
    ERR35[3].w~force ERR34[2].w~force ERR33[1].w~force ERR32[0].w~force
068 ERRSLICE1_MISSIONERR_STATUS ERR63[31] ERR62[30] ERR61[29] ERR60[28] ERR59[27] ERR58[26]
    ERR57[25] ERR56[24] ERR55[23] ERR54[22] ERR53[21] ERR52[20] ERR51[19] ERR50[18] ERR49[17]
    ERR48[16] ERR47[15] ERR46[14] ERR45[13] ERR44[12] ERR43[11] ERR42[10] ERR41[9] ERR40[8]
    ERR39[7] ERR38[6] ERR37[5] ERR36[4] ERR35[3] ERR34[2] ERR33[1] ERR32[0]
06c ERRSLICE1_MISSIONERR_INJECT ERR63[31]~enable ERR62[30]~enable ERR61[29]~enable
    ERR60[28]~enable ERR59[27]~enable ERR58[26]~enable ERR57[25]~enable ERR56[24]~enable
    ERR55[23]~enable ERR54[22]~enable ERR53[21]~enable ERR52[20]~enable ERR51[19]~enable
    ERR50[18]~enable ERR49[17]~enable ERR48[16]~enable ERR47[15]~enable ERR46[14]~enable
    ERR45[13]~enable ERR44[12]~enable ERR43[11]~enable ERR42[10]~enable ERR41[9]~enable
    ERR40[8]~enable ERR39[7]~enable ERR38[6]~enable ERR37[5]~enable ERR36[4]~enable
    ERR35[3]~enable ERR34[2]~enable ERR33[1]~enable ERR32[0]~enable
070 ERRSLICE1_LATENTERR_ENABLE ERR63[31]=1~enable ERR62[30]=1~enable ERR61[29]=1~enable
    ERR60[28]=1~enable ERR59[27]=1~enable ERR58[26]=1~enable ERR57[25]=1~enable ERR56[24]=1~enable
    ERR55[23]=1~enable ERR54[22]=1~enable ERR53[21]=1~enable ERR52[20]=1~enable ERR51[19]=1~enable
    ERR50[18]=1~enable ERR49[17]=1~enable ERR48[16]=1~enable ERR47[15]=1~enable ERR46[14]=1~enable
    ERR45[13]=1~enable ERR44[12]=1~enable ERR43[11]=1~enable ERR42[10]=1~enable ERR41[9]=1~enable
    ERR40[8]=1~enable ERR39[7]=1~enable ERR38[6]=1~enable ERR37[5]=1~enable ERR36[4]=1~enable
    ERR35[3]=1~enable ERR34[2]=1~enable ERR33[1]=1~enable ERR32[0]=1~enable
074 ERRSLICE1_LATENTERR_FORCE ERR63[31].w~force ERR62[30].w~force ERR61[29].w~force
    ERR60[28].w~force ERR59[27].w~force ERR58[26].w~force ERR57[25].w~force ERR56[24].w~force
    ERR55[23].w~force ERR54[22].w~force ERR53[21].w~force ERR52[20].w~force ERR51[19].w~force
    ERR50[18].w~force ERR49[17].w~force ERR48[16].w~force ERR47[15].w~force ERR46[14].w~force
    ERR45[13].w~force ERR44[12].w~force ERR43[11].w~force ERR42[10].w~force ERR41[9].w~force
    ERR40[8].w~force ERR39[7].w~force ERR38[6].w~force ERR37[5].w~force ERR36[4].w~force
    ERR35[3].w~force ERR34[2].w~force ERR33[1].w~force ERR32[0].w~force
078 ERRSLICE1_LATENTERR_STATUS ERR63[31] ERR62[30] ERR61[29] ERR60[28] ERR59[27] ERR58[26]
    ERR57[25] ERR56[24] ERR55[23] ERR54[22] ERR53[21] ERR52[20] ERR51[19] ERR50[18] ERR49[17]
    ERR48[16] ERR47[15] ERR46[14] ERR45[13] ERR44[12] ERR43[11] ERR42[10] ERR41[9] ERR40[8]
    ERR39[7] ERR38[6] ERR37[5] ERR36[4] ERR35[3] ERR34[2] ERR33[1] ERR32[0]
080 ERRSLICE1_COUNTER_RELOAD ERR63[31].w~reload ERR62[30].w~reload ERR61[29].w~reload
    ERR60[28].w~reload ERR59[27].w~reload ERR58[26].w~reload ERR57[25].w~reload ERR56[24].w~reload
    ERR55[23].w~reload ERR54[22].w~reload ERR53[21].w~reload ERR52[20].w~reload ERR51[19].w~reload
    ERR50[18].w~reload ERR49[17].w~reload ERR48[16].w~reload ERR47[15].w~reload ERR46[14].w~reload
    ERR45[13].w~reload ERR44[12].w~reload ERR43[11].w~reload ERR42[10].w~reload ERR41[9].w~reload
    ERR40[8].w~reload ERR39[7].w~reload ERR38[6].w~reload ERR37[5].w~reload ERR36[4].w~reload
    ERR35[3].w~reload ERR34[2].w~reload ERR33[1].w~reload ERR32[0].w~reload
084 ERRSLICE1_MISSIONERR_ECC_CORRECTION_DIS ERR63[31]~enable
090 ERRSLICE2_MISSIONERR_ENABLE ERR67[3]=1~enable ERR66[2]=1~enable ERR65[1]=1~enable
    ERR64[0]=1~enable
094 ERRSLICE2_MISSIONERR_FORCE ERR67[3].w~force ERR66[2].w~force ERR65[1].w~force ERR64[0].w~force
098 ERRSLICE2_MISSIONERR_STATUS ERR67[3] ERR66[2] ERR65[1] ERR64[0]
09c ERRSLICE2_MISSIONERR_INJECT ERR65[1]~enable ERR64[0]~enable
0a0 ERRSLICE2_LATENTERR_ENABLE ERR67[3]=1~enable ERR66[2]=1~enable ERR65[1]=1~enable
    ERR64[0]=1~enable
0a4 ERRSLICE2_LATENTERR_FORCE ERR67[3].w~force ERR66[2].w~force ERR65[1].w~force ERR64[0].w~force
0a8 ERRSLICE2_LATENTERR_STATUS ERR67[3] ERR66[2] ERR65[1] ERR64[0]
0b0 ERRSLICE2_COUNTER_RELOAD ERR67[3].w~reload ERR66[2].w~reload ERR65[1].w~reload
    ERR64[0].w~reload
"""
